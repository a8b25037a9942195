// The form of a derived statistic, and the JSON document that the API takes for it.

import { binFields, boundsFields, numeric, temporal, text, typed } from "../ui/controls.js";
import { field, fill, h, select } from "../ui/dom.js";
import { columnText } from "../ui/format.js";
import { categoryText, filterFields, groupField, weightField } from "./filters.js";
import { bodies, columnFields, elements, kindFields, paired } from "./question.js";

const METHODS = "A search needs fewer counts: narrower intervals of a few quantiles in many bins."
  + " A histogram also shows the rest of the distribution, and is free if it is already released.";

/** Return the fields of a proportion: of rows that are true, of one category, or that meet conditions. */
function proportion(columns, changed) {
  const names = Object.keys(columns).filter((name) => !numeric(columns[name]));
  const of = select([["", "rows that meet conditions"], ...names.map((name) => [name, columnText(name, columns[name])])], names[0] ?? "", { change: build });
  const details = h("div", { class: "fields" });
  let body;
  function build() {
    const declared = columns[of.value];
    if (!declared) {
      const where = filterFields(columns, changed);
      body = where.body;
      fill(details, where.element);
    } else if (declared.kind === "category") {
      const called = declared.categories.map((each) => [each, categoryText(each, declared)]);
      const category = select(called, declared.categories[0]);
      body = () => ({ column: of.value, category: category.value });
      fill(details, field("Category", category));
    } else {
      body = () => ({ column: of.value });
      fill(details);
    }
  }
  build();
  return { element: [field("Share of", of), details], body: () => ({ kind: "proportion", ...body() }) };
}

function kindsOf(columns, changed) {
  const all = Object.keys(columns);
  const numbers = all.filter((name) => numeric(columns[name]));
  const measured = all.filter((name) => columns[name].kind !== "category");
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
  const both = (names, make) => [["First column", names[0]], ["Second column", names[1]]]
    .map(([label, chosen]) => columnFields(columns, label, names, chosen, make));
  const two = (kind, ...more) => {
    const pair = both(measured, bounded);
    return { element: [elements(pair), elements(more)],
      body: () => ({ kind, columns: pair.map(({ name }) => name()), bounds: pair.map(({ body }) => body()), ...bodies(more) }) };
  };
  const cut = (kind, more) => {
    const column = columnFields(columns, "Column", numbers, numbers[0], binned);
    const where = rows();
    return { element: [more?.element, column.element, where.element],
      body: () => ({ kind, column: column.name(), ...column.body(), ...where.body(), ...more?.body() }) };
  };
  const quantile = () => {
    const wanted = text({ inputmode: "text", value: "0.25, 0.5, 0.75" });
    const method = select([["", "whichever is narrower"], ["histogram", "histogram"], ["search", "search"]], "", { change: changed });
    return cut("quantile", {
      element: [field("Probabilities", wanted, "Between 0 and 1, separated by commas."), field("Method", method, METHODS)],
      body: () => ({ probabilities: typed(wanted), ...(method.value && { method: method.value }) }) });
  };
  const margin = () => {
    const pair = both(all, binned);
    const of = select([["0", "the first column"], ["1", "the second column"]], "0");
    const where = rows();
    return { element: [field("Margin of", of), pair.map(({ element }) => element), where.element],
      body: () => {
        const names = pair.map(({ name }) => name());
        return { kind: "margin", column: names[Number(of.value)], columns: names, ...paired(pair.map(({ body }) => body())),
          ...where.body() };
      } };
  };
  const nullable = measured.some((name) => columns[name].nullable !== false);
  /** Return a choice of what to do with missing values, if there may be any. */
  const missing = () => {
    if (!nullable) return { element: null, body: () => ({}) };
    const of = select([["exclude", "left out: only rows that have a value"], ["", "counted as the owner declared"]], "exclude");
    return { element: field("Missing values", of, "Leaving them out also releases how many values are known."),
      body: () => (of.value ? { missing: of.value } : {}) };
  };
  const known = () => ({ element: null, body: () => ({ missing: "exclude" }) });
  return [
    { kind: "standard_deviation", text: "Standard deviation", may: measured.length > 0,
      make: () => one("standard_deviation", measured, missing()) },
    { kind: "sum", text: "Sum", may: added.length > 0, make: () => one("sum", added, groupField(columns), rows(), missing()) },
    { kind: "proportion", text: "Proportion", may: true, make: () => proportion(columns, changed) },
    { kind: "mean", text: "Mean of some rows, weighted, or of the known values", may: measured.length > 0,
      make: () => one("mean", measured, groupField(columns), weightField(columns), rows(), missing()) },
    { kind: "variance", text: "Variance of the known values", may: nullable, make: () => one("variance", measured, rows(), known()) },
    { kind: "covariance", text: "Covariance of the known values", may: nullable && measured.length > 1,
      make: () => two("covariance", rows(), known()) },
    { kind: "correlation", text: "Correlation", may: measured.length > 1, make: () => two("correlation", missing()) },
    { kind: "regression", text: "Regression line", may: measured.length > 1, make: () => two("regression", missing()) },
    { kind: "cumulative", text: "Cumulative counts", may: numbers.length > 0, make: () => cut("cumulative") },
    { kind: "quantile", text: "Quantiles", may: numbers.length > 0, make: quantile },
    { kind: "margin", text: "Margin of a two-way table", may: all.length > 1, make: margin },
  ].filter(({ may }) => may);
}

/** Return the fields of one derived statistic of `columns`; `body()` returns its JSON document. */
export const derivedFields = (columns, changed) => kindFields("Derived statistic", kindsOf(columns, changed), changed);
