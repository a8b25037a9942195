// What is paid for: asked for, shown, and told to a screen reader.

import { alertOf, announce, fill } from "./dom.js";
import { release } from "./release.js";

/**
 * Asks for releases of a dataset, or for what follows from some, and shows the answer in an element.
 * `shown` makes elements of the answer, `free` a sentence where it cost nothing, and `afterwards` runs then.
 */
export function asking(name, to, answer, { shown, free, afterwards }) {
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
