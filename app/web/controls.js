// The controls that questions are made of. Numbers go as the decimals that were typed, never through a double.

import { field, fill, h, select } from "./dom.js";

export const numeric = ({ kind }) => ["integer", "real", "decimal"].includes(kind);

export const text = (properties) => h("input", { type: "text", inputmode: "decimal", autocomplete: "off", ...properties });

/** What was typed with commas between it. */
export const typed = ({ value }) => value.split(",").map((each) => each.trim()).filter((each) => each !== "");

/** A choice of one of `names`. */
export const chooser = (names, chosen, change) => select(names.map((name) => [name, name]), chosen, { change });

const NOTHING = { element: null, body: () => null };

/** The bounds of a numeric column, as a pair; others have none. */
export function boundsFields(name, declared) {
  if (!numeric(declared)) return NOTHING;
  const [lower, upper] = (declared.bounds ?? ["", ""]).map((bound) => text({ value: String(bound) }));
  const element = h("fieldset", { class: "pair" }, h("legend", {}, "Bounds of ", name),
    field("Lower", lower), field("Upper", upper));
  return { element, body: () => [lower.value.trim(), upper.value.trim()] };
}

/** How a column is cut into bins: `edges`, or `bins` over `bounds`; a column of categories is as it is declared. */
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
