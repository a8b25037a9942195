// The page of all datasets that the user may see, with their budgets.

import { get, listed, path } from "../api.js";
import { gauge, windowNote } from "../ui/budget_gauge.js";
import { badge, empty, fill, h, longList, notice, skeleton } from "../ui/dom.js";
import { count } from "../ui/format.js";

const STEP = 24; // cards at a time: each asks for its budget

/** Return the gauges of a dataset: its budget, and the user's allowance. */
export function gauges(budget) {
  return [
    gauge("Dataset", budget),
    budget.allowance && gauge("Your allowance", budget.allowance, windowNote(budget.allowance.window)),
  ];
}

/** Return a dataset's card; its budget comes when it is there. */
function card(dataset) {
  const place = h("div", {}, skeleton(2));
  get(`${path("datasets", dataset.name)}/budget`)
    .then((budget) =>
      fill(
        place,
        gauges(budget),
        budget.open_requests > 0 && badge(`${count(budget.open_requests, "request")} for budget`, "accent"),
      ),
    )
    .catch(() => fill(place, h("p", { class: "muted" }, "Its budget could not be loaded.")));
  return h(
    "li",
    { class: "card" },
    h(
      "h2",
      {},
      h("a", { class: "card-link", href: `#${path("datasets", dataset.name)}` }, dataset.name),
      dataset.state !== "open" && badge(dataset.state, "warn"),
    ),
    dataset.description && h("p", {}, dataset.description),
    h("p", { class: "muted" }, `${count(dataset.n, "row")}, ${count(Object.keys(dataset.columns).length, "column")}`),
    place,
  );
}

export async function datasets(me) {
  const { items, complete } = await listed("/datasets", "datasets", 100);
  const registers = me.role === "owner" || me.role === "admin";
  if (items.length === 0) {
    return registers
      ? empty(
          "No datasets yet",
          "Register a table: a file, or a table of a connection. Nobody sees it until you grant an allowance.",
          h("a", { href: "#/register" }, "Register a table"),
        )
      : empty(
          "No datasets yet",
          "You cannot see any dataset yet: ask the owner of one for an allowance, and tell them your name here.",
          h("a", { href: "#/account" }, "Your account"),
        );
  }
  return [
    !complete && notice("warn", "Only the earliest datasets are shown: there are too many to load."),
    longList({
      items,
      noun: "dataset",
      step: STEP,
      textOf: ({ name, description }) => `${name} ${description}`,
      render: (shown) => h("ul", { class: "cards" }, shown.map(card)),
    }),
  ];
}
