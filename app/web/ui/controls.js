// The controls of the forms. A number is sent as the decimal that was typed, never as a double.

import { field, fill, h, select } from "./dom.js";
import { columnText, withUnit } from "./format.js";

export const temporal = ({ kind }) => ["date", "timestamp"].includes(kind);

/** Return whether a column's values are numbers or dates, which have bounds and an order. */
export const numeric = ({ kind }) => ["integer", "real", "decimal", "date", "timestamp"].includes(kind);

export const PERIODS = ["day", "iso_week", "month", "quarter", "year"];

export const text = (properties) =>
  h("input", { type: "text", inputmode: "decimal", autocomplete: "off", ...properties });

/** Return a field for a value of a numeric column: a date, a time or a number. */
export function valueInput({ kind }, value = "") {
  if (kind === "date") return h("input", { type: "date", value });
  if (kind === "timestamp") return h("input", { type: "datetime-local", step: "1", value });
  return text({ value: String(value) });
}

/** Return the comma-separated values that were typed. */
export const typed = ({ value }) =>
  value
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");

/** Return a choice of one of the columns with these names. */
export const columnChooser = (columns, names, chosen, change) =>
  select(
    names.map((name) => [name, columnText(name, columns[name])]),
    chosen,
    { change },
  );

/** Return a choice of one of `names`. */
export const chooser = (names, chosen, change) =>
  select(
    names.map((name) => [name, name]),
    chosen,
    { change },
  );

const NOTHING = { element: null, body: () => null };

/** Return fields for the lower and upper bound of a numeric column; other columns have none. */
export function boundsFields(name, declared) {
  if (!numeric(declared)) return NOTHING;
  const [lower, upper] = (declared.bounds ?? ["", ""]).map((bound) => valueInput(declared, bound));
  const element = h(
    "fieldset",
    { class: "pair" },
    h("legend", {}, `Bounds of ${withUnit(name, declared.unit && `(${declared.unit})`)}`),
    field("Lower", lower),
    field("Upper", upper),
  );
  return { element, body: () => [lower.value.trim(), upper.value.trim()] };
}

/** Return fields for a numeric column's bins: `edges`, or `bins` over `bounds`. Other columns have their categories. */
export function binFields(name, declared) {
  if (!numeric(declared)) return { element: null, body: () => ({}) };
  const periods = temporal(declared) ? PERIODS.map((period) => [period, `each ${period.replace("iso_", "ISO ")}`]) : [];
  const ways = [...periods, ["bins", "equal widths"], ["edges", "my own edges"]];
  const by = select(ways, temporal(declared) ? "month" : "bins", { change: show });
  const bins = text({ value: "10", inputmode: "numeric" });
  const edges = text({ inputmode: "text" });
  const bounds = boundsFields(name, declared);
  const parts = h("div", { class: "fields" });
  function show() {
    if (by.value === "edges") fill(parts, field("Edges", edges, "In ascending order, separated by commas."));
    else fill(parts, by.value === "bins" && field("How many", bins), bounds.element);
  }
  show();
  return {
    element: h("fieldset", { class: "fields" }, h("legend", {}, name), field("Bins", by), parts),
    body: () =>
      by.value === "edges"
        ? { edges: typed(edges) }
        : { bins: by.value === "bins" ? bins.value.trim() : by.value, bounds: bounds.body() },
  };
}
