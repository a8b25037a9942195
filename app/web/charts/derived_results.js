// Shows a derived statistic: the values with their intervals, and the releases that they follow from.

import { path } from "../api.js";
import { facts, h, table } from "../ui/dom.js";
import { binLabels, binnedColumns, bound, date, interval, number, statistic, ungrouped, withUnit } from "../ui/format.js";

const spoken = (name) => name.replaceAll("_", " ");

/** Return an interval as text; an end is null if nothing is known about it. */
const between = ([lower, upper], told) => (lower === null && upper === null ? "no information"
  : interval([lower ?? -Infinity, upper ?? Infinity], told));

const shown = (value, told) => (value === null ? "no value" : told(value));

/** Return the number format of a kind. Quantiles are values of a column, which may be years. */
const toldOf = ({ kind }) => (kind === "quantile" ? ungrouped : number);

/** Return a derived statistic in one line. */
export function derivedName({ kind, column, columns, category, where, missing }) {
  const of = kind === "margin" ? `${column} in the table of ${columns.join(" and ")}` : column ?? columns?.join(" and ");
  const name = statistic({ kind: spoken(kind), column: of, where });
  const known = missing === undefined ? name : `${name}, known values`;
  return category === undefined ? known : `${known}: ${category}`;
}

/** Return the label of each number of a list. */
function labelsOf({ derived, edges, bins, columns = {} }, length) {
  if (bins) return binLabels(bins, columns[derived.kind === "margin" ? derived.column : binnedColumns(derived)[0]]);
  if (derived.kind === "quantile") return derived.probabilities.map(String);
  return (edges ?? Array.from({ length })).map((edge, at) => (edge === undefined ? String(at + 1) : `below ${edge}`));
}

/** Return an interval of dates as text. */
const dates = ([first, last]) => (first === null ? "no information" : `${date(first)} to ${date(last)}`);

function estimate(answer, name, found) {
  const dated = found.interval_as_date !== undefined;
  const value = dated ? found.value_as_date : found.value;
  const known = dated ? found.interval_as_date : found.interval;
  const unit = dated ? undefined : answer.units?.[name];
  const told = dated ? date : (number) => withUnit(toldOf(answer.derived)(number), unit);
  const around = dated ? dates : between;
  if (Array.isArray(value)) {
    const labels = labelsOf(answer, value.length);
    return table(`${spoken(name)}, with intervals that hold for all at once`, ["Of", "Value", "Interval"],
      value.map((each, at) => [labels[at], shown(each, told), around(known[at], told)]), [1, 2]);
  }
  const certain = `The ${spoken(name)} is in the interval with ${number(100 * (1 - answer.alpha))} % confidence.`;
  return [h("p", { class: "value" }, shown(value, told)),
    facts([[spoken(name), shown(value, told)], ["Interval", around(known, told)]]),
    h("p", {}, certain)];
}

/** Return a table of the releases that a derived statistic follows from, or would follow from; see the caption. */
export function components(caption, dataset, all) {
  const what = ({ release_id: id, statistic: asked }) => (id === null ? statistic(asked)
    : h("a", { href: `#${path("datasets", dataset, "releases", id)}` }, statistic(asked)));
  return table(caption, ["As", "Release", "Radius", "ε"], all.map((each) => [spoken(each.role), what(each),
    `± ${bound(each.accuracy.radius)}`, each.reused ? "0, known" : each.charged]), [2, 3]);
}

/** Return what missing values and values outside the bounds count as, a line for each column. */
export const treatment = (answer) => Object.values(answer.treatment ?? {}).map(({ rule }) => h("p", { class: "muted" }, `${rule}.`));

/** Return a card with everything about the answer. */
export function derivedResult(answer) {
  const { budget } = answer;
  return h("section", { class: "card result" },
    h("h2", { tabindex: "-1" }, derivedName(answer.derived)),
    Object.entries(answer.estimates).map(([name, each]) => estimate(answer, name, each)),
    treatment(answer),
    components("The releases that it is derived from", answer.dataset, answer.components),
    facts([["Charged", `ε ${budget.charged}`], ["Left of the dataset's budget", `ε ${budget.dataset_remaining}`],
      ["Left of your allowance", budget.allowance_remaining === null ? null : `ε ${budget.allowance_remaining}`]]));
}
