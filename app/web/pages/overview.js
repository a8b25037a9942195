// The page of a dataset: its public facts, its budget, and what was spent, when and by whom.

import { get, listed, path } from "../api.js";
import { spending } from "../charts/spending.js";
import { facts, h, table } from "../ui/dom.js";
import { count, people, person, time } from "../ui/format.js";
import { gauges } from "./datasets.js";

/** Return a category's text, quoted as JSON if it could be read as several categories or as none. */
const plainly = (text) => (/[,"]|^\s|\s$|^$/.test(text) ? JSON.stringify(text) : text);

function domain(column) {
  if (column.bounds) return `${column.bounds[0]} to ${column.bounds[1]}${column.unit ? ` ${column.unit}` : ""}`;
  const label = (category) => (Object.hasOwn(column.category_labels ?? {}, category)
    ? `${plainly(category)} (${column.category_labels[category]})` : plainly(category));
  if (column.categories) return column.categories.map(label).join(", ");
  return "true, false";
}

/** Return the middle of a column's bounds, as a whole number of units for integers and decimals. */
function middle({ kind, bounds: [lower, upper], scale }) {
  if (kind === "real") return (lower + upper) / 2;
  const unit = 10 ** (scale ?? 0);
  return Math.ceil(((lower + upper) / 2) * unit) / unit;
}

/** Return whether values may be missing, and what a missing one counts as in a mean or sum. */
const nulls = (column) => {
  if (column.nullable === false) return "none";
  if (column.null_value !== undefined) return `possible, taken as ${column.null_value}`;
  if (column.kind === "boolean") return "possible, taken as false";
  const numbers = column.bounds?.every((bound) => typeof bound === "number");
  return numbers ? `possible, taken as ${middle(column)}` : "possible";
};

/** Return what was spent: by everybody if the user may see all allowances, and else by the user. */
async function spent(name, me, budget) {
  if (budget.allowances !== undefined) {
    const { items, complete } = await listed(`${path("datasets", name)}/ledger`, "entries");
    const named = people(budget);
    const debits = items.filter(({ kind }) => kind === "debit" || kind === "write_off")
      .map((debit) => ({ ...debit, principal: named(debit.principal) }));
    return spending("What was spent, when and by whom", debits, budget.epsilon_limit, complete);
  }
  const { items, complete } = await listed("/releases", "releases", 100);
  const own = items.filter(({ dataset }) => dataset === name)
    .map((release) => ({ principal: person(me.name, me.display_name), at: release.created_at, epsilon: release.budget.charged }));
  return spending("What you spent, and when", own, budget.allowance?.epsilon_limit, complete);
}

export async function overview(name, me, budget) {
  const [dataset, chart] = await Promise.all([get(path("datasets", name)), spent(name, me, budget)]);
  const columns = Object.entries(dataset.columns)
    .map(([column, declared]) => [
      [column, [declared.label, declared.description].filter(Boolean).map((text) => h("small", {}, h("br"), text))],
      declared.kind, domain(declared), nulls(declared),
    ]);
  return [
    dataset.state === "closed" && h("p", { class: "notice" }, "This dataset is closed: its data is deleted."),
    dataset.warning && h("p", { class: "notice" }, dataset.warning),
    dataset.description && h("p", {}, dataset.description),
    h("section", { class: "card" }, h("h2", {}, "Budget"), gauges(budget)),
    chart,
    h("section", { class: "card" }, h("h2", {}, "Table"),
      facts([["Rows", count(dataset.n, "row")],
        ["Protected", `the values in ${count(dataset.rows_per_unit, "row")}`],
        ["Registered", time(dataset.created_at)], ["Succeeds", dataset.succeeds]]),
      table("Columns", ["Column", "Kind", "Values", "Nulls"], columns)),
  ];
}
