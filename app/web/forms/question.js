// The planner's form, and the JSON document that the API takes for its statistic.

import { binFields, boundsFields, columnChooser, temporal } from "../ui/controls.js";
import { field, fill, h, select } from "../ui/dom.js";
import { filterFields, groupField } from "./filters.js";

export const elements = (parts) => parts.map(({ element }) => element);
export const bodies = (parts) => Object.assign({}, ...parts.map(({ body }) => body()));

/** Return a choice of a column with the fields that the column needs; choosing another column replaces the fields. */
export function columnFields(columns, label, names, chosen, make) {
  const column = columnChooser(columns, names, chosen, build);
  const details = h("div", { class: "fields" });
  let fields;
  function build() {
    fields = make(column.value);
    fill(details, fields.element);
  }
  build();
  return { element: [field(label, column), details], name: () => column.value, body: () => fields.body() };
}

/** Return `edges`, `bins` and `bounds` of two columns as lists; omit a list if neither column has a value. */
export function paired(both) {
  const list = (member) => both.map((one) => one[member] ?? null);
  return Object.fromEntries(["edges", "bins", "bounds"].map((member) => [member, list(member)])
    .filter(([, items]) => items.some((item) => item !== null)));
}

/** Return the kinds of statistics that the columns allow, each `{kind, text, make}`; `make` returns its fields. */
function kindsOf(columns, changed) {
  const all = Object.keys(columns);
  const measured = all.filter((name) => columns[name].kind !== "category");
  const nullable = all.filter((name) => columns[name].nullable !== false);
  const bounded = (name) => boundsFields(name, columns[name]);
  const binned = (name) => binFields(name, columns[name]);
  const rows = () => filterFields(columns, changed);
  const bounds = (of) => (of.body() === null ? {} : { bounds: of.body() });

  const added = measured.filter((name) => !temporal(columns[name])); // dates have no sum

  const one = (kind, names, ...more) => {
    const column = columnFields(columns, "Column", names, names[0], bounded);
    return { element: [column.element, elements(more)],
      body: () => ({ kind, column: column.name(), ...bounds(column), ...bodies(more) }) };
  };
  const two = (names, make, kind, assemble, ...more) => {
    const both = [["First column", names[0]], ["Second column", names[1]]]
      .map(([label, chosen]) => columnFields(columns, label, names, chosen, make));
    return { element: [elements(both), elements(more)],
      body: () => ({ kind, columns: both.map(({ name }) => name()), ...assemble(both), ...bodies(more) }) };
  };
  const histogram = () => {
    const column = columnFields(columns, "Column", all, all[0], binned);
    const where = rows();
    return { element: [column.element, where.element],
      body: () => ({ kind: "histogram", column: column.name(), ...column.body(), ...where.body() }) };
  };
  const count = () => {
    const parts = [groupField(columns), rows()];
    return { element: elements(parts), body: () => ({ kind: "count", ...bodies(parts) }) };
  };
  return [
    { kind: "mean", text: "Mean", least: 1, make: () => one("mean", measured) },
    { kind: "variance", text: "Variance", least: 1, make: () => one("variance", measured) },
    { kind: "covariance", text: "Covariance", least: 2,
      make: () => two(measured, bounded, "covariance", (both) => ({ bounds: both.map(({ body }) => body()) })) },
    { kind: "histogram", text: "Histogram", least: 0, make: histogram },
    { kind: "table", text: "Two-way table", least: all.length > 1 ? 0 : Infinity,
      make: () => two(all, binned, "histogram", (both) => paired(both.map(({ body }) => body())), rows()) },
    { kind: "count", text: "Count", least: 0, make: count },
    { kind: "missing", text: "Missing values", least: nullable.length > 0 ? 0 : Infinity,
      make: () => {
        const column = columnChooser(columns, nullable, nullable[0], changed);
        return { element: field("Column", column), body: () => ({ kind: "missing", column: column.value }) };
      } },
    { kind: "sum", text: "Sum", least: added.length > 0 ? 1 : Infinity,
      make: () => one("sum", added, groupField(columns), rows()) },
  ].filter(({ least }) => measured.length >= least);
}

/** Return a choice of `kinds` with the fields of the chosen one; `body()` returns the JSON document. */
export function kindFields(title, kinds, changed) {
  const kind = select(kinds.map((each) => [each.kind, each.text]), kinds[0].kind, { change: build });
  const rest = h("div", { class: "fields" });
  let fields;
  function build() {
    fields = kinds.find((each) => each.kind === kind.value).make();
    fill(rest, fields.element);
  }
  build();
  const element = h("fieldset", { class: "fields", input: changed },
    h("legend", {}, title), field("Kind", kind), rest);
  return { element, body: () => fields.body() };
}

/** Return the fields of one statistic of `columns`; `body()` returns its JSON document. */
export const statisticFields = (columns, changed) => kindFields("Statistic", kindsOf(columns, changed), changed);
