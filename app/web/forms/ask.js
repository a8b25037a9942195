// Requests a release, shows the answer, and announces it to a screen reader.

import { release } from "../release_requests.js";
import { alertOf, announce, fill } from "../ui/dom.js";

/**
 * Return functions that request a release or a derived statistic of a dataset and show the answer in an element.
 * `shown` returns the elements for the answer, `free` a sentence if it cost nothing; `afterwards` runs at the end.
 */
export function prepareRequests(name, to, answer, { shown, free, afterwards }) {
  async function ask(body) {
    announce("Releasing …");
    const waiting = (attempt) => announce(`No answer yet: trying again with the same Idempotency-Key (attempt ${attempt}).`);
    const found = await release(name, to, body, waiting);
    fill(answer, shown(found));
    answer.querySelector("h2").focus();
    announce(free(found) || `Released for ε ${found.budget.charged}.`);
    afterwards();
  }
  const again = (body) => ask(body).catch((error) => fill(answer, alertOf(error)));
  return { ask, again };
}
