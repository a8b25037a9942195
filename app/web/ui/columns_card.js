// The columns of a dataset, as everybody with access sees them.

import { card, h, longList, table } from "./dom.js";
import { date, number, withUnit } from "./format.js";
import { kindText } from "./kinds.js";
import { asYear, holdsYears } from "./years.js";

/** Return a category's text, quoted as JSON if it could be read as several categories or as none. */
const plainly = (text) => (/[,"]|^\s|\s$|^$/.test(text) ? JSON.stringify(text) : text);

const SHOWN_CATEGORIES = 12;

/** Return a value of a column for reading: a number, a year, or a date. */
const told = (name, column, value) =>
  typeof value === "number" ? asYear(number(value), holdsYears(name, column, column.bounds)) : date(String(value));

function domain(name, column) {
  if (column.bounds) {
    const ends = column.bounds.map((bound) => told(name, column, bound));
    return withUnit(ends.join(" to "), column.unit);
  }
  const label = (category) =>
    Object.hasOwn(column.category_labels ?? {}, category)
      ? `${plainly(category)} (${column.category_labels[category]})`
      : plainly(category);
  if (!column.categories) return "true or false";
  const labels = column.categories.map(label);
  if (labels.length <= SHOWN_CATEGORIES) return labels.join(", ");
  return h(
    "details",
    {},
    h("summary", {}, `${labels.length} categories, such as ${labels.slice(0, 3).join(", ")}`),
    labels.join(", "),
  );
}

/** Return the middle of a column's bounds, as a whole number of units for integers and decimals. */
function middle({ kind, bounds: [lower, upper], scale }) {
  if (kind === "real") return (lower + upper) / 2;
  const unit = 10 ** (scale ?? 0);
  return Math.ceil(((lower + upper) / 2) * unit) / unit;
}

/** Return whether values may be missing, and what a missing one counts as in a mean or sum. */
const nulls = (name, column) => {
  if (column.nullable === false) return "none";
  const numbers = column.bounds?.every((bound) => typeof bound === "number");
  const value = column.null_value ?? (column.kind === "boolean" ? false : numbers ? middle(column) : undefined);
  return value === undefined ? "possible" : `possible; a missing one counts as ${told(name, column, value)}`;
};

/** Return a card with the columns: kind, values and whether some may be missing. */
export function columnsCard(columns) {
  const row = ([column, declared]) => [
    h(
      "span",
      {},
      column,
      [declared.label, declared.description].filter(Boolean).map((text) => h("small", {}, text)),
    ),
    kindText(declared),
    domain(column, declared),
    nulls(column, declared),
  ];
  return card(
    "Columns",
    longList({
      items: Object.entries(columns),
      noun: "column",
      textOf: ([column, { label = "", description = "" }]) => `${column} ${label} ${description}`,
      render: (shown) =>
        table(
          "Everybody with access sees this, and nothing of the values",
          ["Column", "Kind", "Values", "Missing values"],
          shown.map(row),
        ),
    }),
  );
}
