// The controls of the forms. A number is sent as the decimal that was typed, never as a double.

import { field, fill, h, select } from "./dom.js";

export const numeric = ({ kind }) => ["integer", "real", "decimal"].includes(kind);

export const text = (properties) => h("input", { type: "text", inputmode: "decimal", autocomplete: "off", ...properties });

/** Return the comma-separated values that were typed. */
export const typed = ({ value }) => value.split(",").map((each) => each.trim()).filter((each) => each !== "");

/** Return a choice of one of `names`. */
export const chooser = (names, chosen, change) => select(names.map((name) => [name, name]), chosen, { change });

const NOTHING = { element: null, body: () => null };

/** Return fields for the lower and upper bound of a numeric column; other columns have none. */
export function boundsFields(name, declared) {
  if (!numeric(declared)) return NOTHING;
  const [lower, upper] = (declared.bounds ?? ["", ""]).map((bound) => text({ value: String(bound) }));
  const element = h("fieldset", { class: "pair" }, h("legend", {}, "Bounds of ", name),
    field("Lower", lower), field("Upper", upper));
  return { element, body: () => [lower.value.trim(), upper.value.trim()] };
}

/** Return fields for a numeric column's bins: `edges`, or `bins` over `bounds`. Other columns have their categories. */
export function binFields(name, declared) {
  if (!numeric(declared)) return { element: null, body: () => ({}) };
  const by = select([["bins", "equal widths"], ["edges", "my own edges"]], "bins", { change: show });
  const bins = text({ value: "10", inputmode: "numeric" });
  const edges = text({ inputmode: "text" });
  const bounds = boundsFields(name, declared);
  const parts = h("div", { class: "fields" });
  function show() {
    if (by.value === "edges") fill(parts, field("Edges", edges, "In ascending order, separated by commas."));
    else fill(parts, field("How many", bins), bounds.element);
  }
  show();
  return {
    element: h("fieldset", { class: "fields" }, h("legend", {}, name), field("Bins", by), parts),
    body: () => (by.value === "edges" ? { edges: typed(edges) } : { bins: bins.value.trim(), bounds: bounds.body() }),
  };
}
