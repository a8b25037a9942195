// Asks once before ε is spent: what it costs, what it leaves, and what will be known.

import { confirmed, facts, h } from "../ui/dom.js";
import { costText, leftText } from "../ui/format.js";
import { fromNano, toNano } from "./plan/planned_answer.js";

/** Return why a plan is not released: what it costs, and what is left. */
function refusal({ charged, dataset_remaining: ofDataset, allowance_remaining: ofAllowance }) {
  if (ofAllowance === null)
    return { title: "No allowance", message: "You have no allowance on this dataset: its owner can grant you one." };
  const left =
    Number(ofAllowance) <= Number(ofDataset)
      ? `${leftText(ofAllowance)} of your allowance`
      : `${leftText(ofDataset)} of the dataset's budget`;
  return {
    title: "Budget exhausted",
    message: `This costs ε ${costText(charged)}, and ${left} is left: ask for less, or ask the dataset's owner for more.`,
  };
}

/**
 * Ask whether to pay for a plan of `what`; one that is free needs no question. One that is not affordable is not sent:
 * a budget that is raised in this moment would pay for it unasked.
 */
export async function isWanted({ budget, summary }, ...what) {
  const { affordable, charged, dataset_remaining: ofDataset, allowance_remaining: ofAllowance } = budget;
  if (toNano(charged) === 0n) return true;
  if (!affordable) throw refusal(budget);
  const after = (left) => `ε ${fromNano(toNano(left) - toNano(charged))}`;
  return confirmed(
    "This spends your privacy budget, and cannot be undone.",
    `Release for ε ${costText(charged)}`,
    what,
    h("p", {}, summary),
    facts([
      ["Cost", `ε ${charged}`],
      ["Left of your allowance after it", after(ofAllowance)],
      ["Left of the dataset's budget after it", after(ofDataset)],
    ]),
  );
}
