// The form of a question: Enter plans it, and only the button releases, after it was told what that costs.

import { alertOf, confirmed, facts, fill, form, h } from "../ui/dom.js";

/** Return what is left of a budget after a cost; both are decimals with at most nine places. */
const after = (left, cost) => (Number(left) - Number(cost)).toFixed(9).replace(/\.?0+$/, "");

/** Ask whether to pay for a plan; one that is free, or that the service will refuse, needs no question. */
async function isWanted({ budget, summary }) {
  const { affordable, charged, dataset_remaining: ofDataset, allowance_remaining: ofAllowance } = budget;
  if (!affordable || Number(charged) === 0) return true;
  return confirmed("This spends your privacy budget, and cannot be undone.", `Release for ε ${charged}`,
    h("p", {}, summary),
    facts([["Left of your allowance after it", `ε ${after(ofAllowance, charged)}`],
      ["Left of the dataset's budget after it", `ε ${after(ofDataset, charged)}`]]));
}

/**
 * Return the form. `question` returns the body of the request, `plan` plans one, and `ask` releases it; `replan` shows
 * the plan of what is in the fields.
 */
export function releaseForm({ question, plan, replan, ask }, brief, ...fields) {
  const trouble = h("div");
  const button = h("button", { type: "button", click: async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    fill(trouble);
    try {
      const body = question(); // what is confirmed is what is released, whatever is typed meanwhile
      if (await isWanted(await plan(body))) await ask(body);
    } catch (error) {
      fill(trouble, alertOf(error));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  } }, "Release");
  return form({ class: "card" }, replan, fields,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "quiet" }, "Plan"), button, brief), trouble);
}
