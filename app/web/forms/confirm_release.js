// Asks once before ε is spent: what it costs, what it leaves, and what will be known.

import { confirmed, facts, h } from "../ui/dom.js";
import { costText } from "../ui/format.js";
import { fromNano, toNano } from "./plan/planned_answer.js";

/** Ask whether to pay for a plan of `what`; one that is free, or that the service will refuse, needs no question. */
export async function isWanted({ budget, summary }, ...what) {
  const { affordable, charged, dataset_remaining: ofDataset, allowance_remaining: ofAllowance } = budget;
  if (!affordable || toNano(charged) === 0n) return true;
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
