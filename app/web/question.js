// From the planner's form to a request's body. Numbers go as the decimals that were typed, never through a double.

import { field, fill, h, select } from "./dom.js";

const KINDS = [["mean", "Mean"], ["variance", "Variance"], ["covariance", "Covariance"], ["histogram", "Histogram"]];
const numeric = ({ kind }) => ["integer", "real", "decimal"].includes(kind);

const text = (properties) => h("input", { type: "text", inputmode: "decimal", autocomplete: "off", ...properties });

function boundsFields(column, declared) {
  const [lower, upper] = (declared.bounds ?? ["", ""]).map((bound) => text({ value: String(bound) }));
  const group = h("fieldset", { class: "pair" }, h("legend", {}, "Bounds of ", column),
    field("Lower", lower), field("Upper", upper));
  return { group, value: () => [lower.value.trim(), upper.value.trim()] };
}

/** The fields of one statistic over `columns`; `body()` is the statistic as the interface takes it. */
export function statisticFields(columns, changed) {
  const entries = Object.entries(columns);
  const measured = entries.filter(([, column]) => column.kind !== "category");
  const kinds = KINDS.filter(([kind]) =>
    kind === "histogram" || measured.length > (kind === "covariance" ? 1 : 0));
  const kind = select(kinds, kinds[0][0], { change: rebuild });
  const rest = h("div", { class: "fields" });
  let body = () => ({});

  const chooser = (names, chosen) => select(names.map(([name]) => [name, name]), chosen, { change: refresh });

  function bounded(name, into) {
    const declared = columns[name];
    if (!numeric(declared)) return () => null;
    const fields = boundsFields(name, declared);
    into.append(fields.group);
    return fields.value;
  }

  function one() {
    const column = chooser(measured, measured[0][0]);
    const details = h("div", { class: "fields" });
    let bounds;
    const build = () => { fill(details); bounds = bounded(column.value, details); };
    fill(rest, field("Column", column), details);
    build();
    body = () => ({ kind: kind.value, column: column.value, ...(bounds() && { bounds: bounds() }) });
    return build;
  }

  function covariance() {
    const [first, second] = [chooser(measured, measured[0][0]), chooser(measured, measured[1][0])];
    const details = h("div", { class: "fields" });
    let bounds;
    const build = () => { fill(details); bounds = [first, second].map(({ value }) => bounded(value, details)); };
    fill(rest, field("First column", first), field("Second column", second), details);
    build();
    body = () => ({ kind: "covariance", columns: [first.value, second.value], bounds: bounds.map((of) => of()) });
    return build;
  }

  function histogram() {
    const column = chooser(entries, entries[0][0]);
    const details = h("div", { class: "fields" });
    let bins = () => ({});
    const build = () => { bins = numeric(columns[column.value]) ? binFields(column.value, details) : () => ({}); };
    const buildAll = () => { fill(details); build(); };
    fill(rest, field("Column", column), details);
    buildAll();
    body = () => ({ kind: "histogram", column: column.value, ...bins() });
    return buildAll;
  }

  function binFields(name, into) {
    const by = select([["bins", "intervals of equal width"], ["edges", "edges of my own"]], "bins", { change: show });
    const bins = text({ value: "10", inputmode: "numeric" });
    const edges = text({ inputmode: "text" });
    const parts = h("div", { class: "fields" });
    let bounds = () => null;
    function show() {
      fill(parts);
      if (by.value === "edges") parts.append(field("Edges", edges, "Ascending, with commas between them."));
      else {
        parts.append(field("How many", bins));
        bounds = bounded(name, parts);
      }
    }
    show();
    into.append(field("Bins", by), parts);
    return () => (by.value === "edges"
      ? { edges: edges.value.split(",").map((edge) => edge.trim()).filter((edge) => edge !== "") }
      : { bins: bins.value.trim(), bounds: bounds() });
  }

  let rebuildDetails = () => {};
  function refresh() {
    rebuildDetails();
    changed();
  }
  function build() {
    rebuildDetails = { covariance, histogram }[kind.value]?.() ?? one();
  }
  function rebuild() {
    build();
    changed();
  }
  build();
  const element = h("fieldset", { class: "fields", input: changed },
    h("legend", {}, "Statistic"), field("Kind", kind), rest);
  return { element, body: () => body() };
}

/** α, γ, grid refinement and reuse, which have defaults that most will keep. */
export function finerPoints(changed) {
  const [alpha, gamma, refinement] = ["0.05", "0.05", "0"].map((value) => text({ value }));
  const reuse = h("input", { type: "checkbox", checked: true });
  const element = h("details", { input: changed }, h("summary", {}, "Finer points"),
    field("α", alpha, "The error stays within the radius with probability 1 − α."),
    field("γ", gamma, "How much of ε′ the rounding may take: a smaller γ makes a wider range."),
    field("Grid refinement", refinement, "Each step halves the grid."),
    field("Reuse earlier releases", reuse, "What is known already costs nothing."));
  return {
    element,
    body: () => ({
      alpha: alpha.value.trim(), gamma: gamma.value.trim(), grid_refinement: refinement.value.trim(),
      reuse: reuse.checked,
    }),
  };
}
