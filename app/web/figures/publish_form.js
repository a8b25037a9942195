// The form that publishes an answer as a figure, or as a new version of one. It says what that does before it is done.

import { call } from "../api.js";
import { confirmThenSend } from "../forms/confirm_then_send.js";
import { debounce } from "../ui/debounce.js";
import { fill, h, notice, toast } from "../ui/dom.js";
import { figurePath, screenAddress } from "./addresses.js";
import { audienceFields } from "./audience_fields.js";
import { findFigure } from "./find_figure.js";
import { proposeName } from "./names.js";
import { takeAway } from "./take_away.js";
import { textFields } from "./text_fields.js";

/**
 * @typedef {{ releases: string[], answers?: any[], statistic?: any } | { derived: any }} Source the ids of releases, or
 * the request of a derived answer; `answers`, or `statistic` of a single one, is what they answered if not their own
 * @typedef {import("./publisher.js").Publisher} Publisher
 * @typedef {{ dataset: string, source: Source, title: string, publisher: Publisher }} Answer
 * @typedef {{ figure: string, title: string, note: string | null, audience: string, version: number }} Current
 */

const SETTLE_MS = 250;
const VIEWERS = "those who see the dataset, and its viewers";
const FREE = "Publishing costs nothing: the answer was paid for when it was released.";

/** Return the members of a request for a source: a figure tells the releases beside what they answered. */
function requested(/** @type {any} */ source) {
  if (source.answers) return { answers: source.answers };
  return source.statistic ? { release: source.releases[0], statistic: source.statistic } : source;
}

/** Return what publishing does, in sentences. */
function effect(/** @type {Current | null} */ before, /** @type {string} */ audience, /** @type {boolean} */ rules) {
  const narrowed =
    before?.audience === "public" && audience !== "public"
      ? ` It is public now, and will no longer be${rules ? "" : ": only owners publish for everybody"}.`
      : "";
  return before === null
    ? `${FREE} No figure has this name now. A later publication under the same name is its next version.`
    : `${FREE} “${before.title}” has this name: this becomes its version ${before.version + 1}, at the same address, and ` +
        `everybody who reads it sees it from then on. Earlier versions stay readable by their number.${narrowed}`;
}

/**
 * Ask for a name, a title and who may see it, and publish; return the figure, or undefined if the user went back.
 * `current` is the figure that is changed, which keeps its name.
 * @param {Answer} answer
 * @param {Current | null} [current]
 */
export async function publishAnswer({ dataset, source, title: proposed, publisher }, current = null) {
  /** @type {Current | null} */
  let before = current;
  const told = h("div", { role: "status" });
  const show = () => fill(told, notice("info", effect(before, audience.who.value, publisher.rules)));
  const look = debounce(async () => {
    const sought = name.value.trim();
    const found = await findFigure({ dataset, figure: sought }).catch(() => null); // the service tells what it does either way
    if (sought !== name.value.trim()) return;
    before = found;
    show();
  }, SETTLE_MS);
  const texts = textFields(
    { name: current?.figure ?? proposeName(proposed), title: current?.title ?? proposed, note: current?.note },
    look,
  );
  const { name } = texts;
  const audience = audienceFields(VIEWERS, publisher.rules, current?.audience ?? "viewers", show);
  show();
  if (current === null) look();

  const published = await confirmThenSend(
    {
      question: current === null ? "Publish as figure" : `Change ${current.figure}`,
      action: current === null ? "Publish" : "Publish the new version",
      content: [current === null && texts.nameField(), texts.titleField(), texts.noteField(), audience.content, told],
      fields: { figure: name, title: texts.title, note: texts.note, confirm_public: audience.confirm },
      check: () => [texts.check(), audience.check()].every(Boolean),
    },
    () =>
      call("PUT", figurePath({ dataset, figure: name.value.trim() }), {
        ...texts.requested(),
        ...requested(source),
        audience: audience.who.value,
        confirm_public: audience.who.value === "public",
      }),
  );
  if (published === undefined) return undefined;
  const isSame = before?.version === published.version;
  toast(
    isSame
      ? `Nothing has changed: version ${published.version} of ${published.figure} shows this already.`
      : `${published.figure} is published, version ${published.version}.`,
  );
  return { ...published, audience: audience.who.value };
}

/** Return what was published: where it is, and what can be taken away from it. */
export const shownPublication = (/** @type {any} */ figure) =>
  h(
    "section",
    { class: "notice good", "aria-label": "What was published" },
    h("h3", { tabindex: "-1" }, `Published: ${figure.title}, version ${figure.version}`),
    takeAway(figure),
    h("p", {}, h("a", { href: screenAddress(figure) }, "Open the figure")),
  );
