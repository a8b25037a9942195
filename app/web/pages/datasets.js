// The page of all datasets that the user may see, with their budgets.

import { get, listed, path } from "../api.js";
import { gauge, windowNote } from "../ui/budget_gauge.js";
import { h } from "../ui/dom.js";
import { count } from "../ui/format.js";

/** Return the gauges of a dataset: its budget, and the user's allowance. */
export function gauges(budget) {
  return [
    gauge("Dataset", budget),
    budget.allowance && gauge("Your allowance", budget.allowance, windowNote(budget.allowance.window)),
  ];
}

async function card(dataset) {
  const budget = await get(`${path("datasets", dataset.name)}/budget`);
  return h(
    "li",
    { class: "card" },
    h(
      "h2",
      {},
      h("a", { href: `#${path("datasets", dataset.name)}` }, dataset.name),
      dataset.state === "closed" && h("span", { class: "badge" }, "closed"),
    ),
    dataset.description && h("p", {}, dataset.description),
    h("p", { class: "muted" }, `${count(dataset.n, "row")}, ${count(Object.keys(dataset.columns).length, "column")}`),
    gauges(budget),
  );
}

export async function datasets() {
  const { items } = await listed("/datasets", "datasets", 100);
  if (items.length === 0) {
    return h(
      "p",
      {},
      "You cannot see any dataset yet: ask an owner for an allowance, or register a table as an owner.",
    );
  }
  return h("ul", { class: "cards" }, await Promise.all(items.map(card)));
}
