// The columns of a dataset, as everybody with access sees them.

import { card, h, longList, table } from "./dom.js";

/** Return a category's text, quoted as JSON if it could be read as several categories or as none. */
const plainly = (text) => (/[,"]|^\s|\s$|^$/.test(text) ? JSON.stringify(text) : text);

const SHOWN_CATEGORIES = 12;

function domain(column) {
  if (column.bounds) return `${column.bounds[0]} to ${column.bounds[1]}${column.unit ? ` ${column.unit}` : ""}`;
  const label = (category) =>
    Object.hasOwn(column.category_labels ?? {}, category)
      ? `${plainly(category)} (${column.category_labels[category]})`
      : plainly(category);
  if (!column.categories) return "true, false";
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
const nulls = (column) => {
  if (column.nullable === false) return "none";
  if (column.null_value !== undefined) return `possible, taken as ${column.null_value}`;
  if (column.kind === "boolean") return "possible, taken as false";
  const numbers = column.bounds?.every((bound) => typeof bound === "number");
  return numbers ? `possible, taken as ${middle(column)}` : "possible";
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
    declared.kind,
    domain(declared),
    nulls(declared),
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
