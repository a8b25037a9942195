// The page of one derived answer. Its address has the question; opening it never pays.

import { call, path } from "../api.js";
import { derivedName, derivedResult } from "../charts/derived_results.js";
import { requestOf } from "../derived_address.js";
import { alertOf, empty, h } from "../ui/dom.js";
import { costText } from "../ui/format.js";

const nothing = (/** @type {string} */ dataset, /** @type {string} */ title, /** @type {string} */ text) =>
  empty(title, text, h("a", { href: `#${path("datasets", dataset, "plan")}` }, "Ask a question"));

/**
 * Return what an address shows: the answer if all its releases are known, or else what it would cost. No release is ever
 * deleted, so what the plan says is free stays free. `publisher` says what the user may publish.
 */
export async function derivedAnswer(
  /** @type {string} */ dataset,
  /** @type {string} */ text,
  /** @type {import("../figures/publisher.js").Publisher | null} */ publisher,
) {
  const asked = requestOf(text);
  if (asked === null)
    return nothing(dataset, "This address has no question", "It may be cut off or mistyped. Copy the whole address.");
  try {
    const plan = await call("POST", `${path("datasets", dataset)}/derived/plan`, asked);
    if (plan.budget.charged !== "0")
      return nothing(
        dataset,
        `Not released yet: ${derivedName(plan.derived)}`,
        `Its releases would cost ε ${costText(plan.budget.charged)}. Opening an address never pays; ask the question to release it.`,
      );
    const answer = await call("POST", path("datasets", dataset, "derived"), asked);
    return derivedResult(answer, { body: asked, isNew: false, publisher });
  } catch (error) {
    if (![400, 403, 409, 422].includes(error.status)) throw error;
    return alertOf(error);
  }
}
