// What to do when a question costs more than is left, or nobody has granted an allowance.

import { path } from "../../api.js";
import { alertOf, fill, h } from "../../ui/dom.js";
import { costText, leftText } from "../../ui/format.js";
import { grantAllowance } from "../allowance.js";
import { askForBudget } from "../budget_request.js";

/** Return a button that opens a dialog; `then` runs if something was sent. */
function opens(text, open, then) {
  const trouble = h("div");
  const click = async () => {
    fill(trouble);
    try {
      if (await open()) then();
    } catch (error) {
      fill(trouble, alertOf(error));
    }
  };
  return [h("button", { type: "button", class: "quiet small", click }, text), trouble];
}

/**
 * Return what is missing, and a way to get it. `people` is `{name, me, budget, renewed}`: the dataset, the caller, the
 * dataset's budget, which has all allowances for its owner, and what runs when the budget has changed.
 */
export function shortage(
  { charged, dataset_remaining: ofDataset, allowance_remaining: ofAllowance },
  { name, me, budget, renewed },
) {
  const grants = budget.allowances !== undefined && me.role !== "auditor";
  const own = { dataset: name, principal: me.name, current: budget.allowance ?? undefined };
  if (ofAllowance === null) {
    const question = "Grant yourself an allowance";
    return [
      h("p", { class: "verdict" }, h("strong", {}, "You have no allowance on this dataset.")),
      h("p", { class: "muted" }, "Planning is free; releasing takes an allowance."),
      grants
        ? opens("Grant yourself one", () => grantAllowance({ ...own, question }), renewed)
        : "Ask its owner for one.",
    ];
  }
  const ofYours = Number(ofAllowance) <= Number(ofDataset);
  const left = ofYours
    ? `ε ${leftText(ofAllowance)} of your allowance`
    : `ε ${leftText(ofDataset)} of the dataset's budget`;
  const more = grants
    ? opens("Change your allowance", () => grantAllowance(own), renewed)
    : opens("Ask for more", () => askForBudget(name, budget.allowance), renewed);
  return [
    h("p", { class: "verdict refused" }, h("strong", {}, "This costs more than you have left.")),
    h("p", {}, `It costs ε ${costText(charged)}, and ${left} is left. A larger error costs less.`),
    ofYours
      ? more
      : grants && h("p", {}, h("a", { href: `#${path("datasets", name, "rules")}` }, "Change the dataset's limit")),
  ];
}
