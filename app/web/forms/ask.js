// Requests a release, shows the answer, and announces it to a screen reader.

import { derivedResult } from "../charts/derived_results.js";
import { result } from "../charts/release_results.js";
import { sourceOf } from "../figures/answer_source.js";
import { proposeTitle } from "../figures/names.js";
import { publishOffer } from "../figures/publish_offer.js";
import { rehearse, release } from "../release_requests.js";
import { alertOf, announce, fill, h } from "../ui/dom.js";
import { statistic } from "../ui/format.js";

const MAX_RELEASES = 100; // of a figure
const SHOWN = { releases: result, derived: derivedResult };
const FREE = {
  releases: "An earlier release answered, at no cost.",
  derived: "Earlier releases answered, at no cost.",
};

/** Request a release and announce the attempts; returns the answer. */
export function request(name, to, body) {
  announce("Releasing …");
  return release(name, to, body, (attempt) =>
    announce(`No answer yet: trying again with the same Idempotency-Key (attempt ${attempt}).`),
  );
}

/** Return the offer to publish several releases as one figure. */
function allReleases(answers, publisher) {
  const releases = answers.filter(({ to }) => to === "releases").map(({ found }) => found);
  if (releases.length < 2 || releases.length > MAX_RELEASES) return null;
  const [first] = releases;
  const offer = publishOffer(
    {
      dataset: first.dataset,
      source: sourceOf(releases),
      title: `${proposeTitle(statistic(first.statistic))} and ${releases.length - 1} more`,
      publisher,
    },
    `Publish these ${releases.length} releases as one figure`,
  );
  return h("div", { class: "card" }, h("div", { class: "buttons" }, offer.button), offer.place);
}

/**
 * Show answers, each `{to, found, body, paid}`, and move the focus to the first one: `body` is the request of a derived
 * one, `paid` what its releases cost just before. `publisher` says what the user may publish.
 */
export function showAnswers(place, answers, charged, publisher) {
  fill(
    place,
    publisher && allReleases(answers, publisher),
    answers.map(({ to, found, body, paid }) => SHOWN[to](found, { body, paid, publisher })),
  );
  place.querySelector("h2")?.focus();
  announce(Number(charged) === 0 ? FREE[answers.length > 1 ? "derived" : answers[0].to] : `Released for ε ${charged}.`);
}

/**
 * Return functions that request a question of a dataset and show its answer in an element: `ask` fails as the request
 * does, and so does `tryOut`, which asks for made-up data; `again` shows the failure. `afterwards` runs after an answer,
 * and `publisher` returns what the user may publish.
 */
export function prepareRequests(name, answer, afterwards, publisher) {
  async function ask(to, body) {
    const found = await request(name, to, body);
    showAnswers(answer, [{ to, found, body }], found.reused ? "0" : found.budget.charged, publisher());
    afterwards();
  }
  async function tryOut(to, body) {
    announce("Making up data …");
    const found = await rehearse(name, to, body);
    fill(answer, SHOWN[to](found, { body }));
    answer.querySelector("h2")?.focus();
    announce("Rehearsed with made-up data, at no cost.");
  }
  const again = (to) => (body) => ask(to, body).catch((error) => fill(answer, alertOf(error)));
  return { ask, again, tryOut };
}
