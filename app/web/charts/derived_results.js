// Shows a derived statistic: the values with their intervals, and the releases that they follow from.

import { path } from "../api.js";
import { derivedAddress } from "../derived_address.js";
import { proposeTitle } from "../figures/names.js";
import { facts, h, longList, notice, table } from "../ui/dom.js";
import {
  axisTitle,
  confidence,
  costText,
  count,
  date,
  interval,
  number,
  statistic,
  sumOf,
  unitOf,
  withUnit,
} from "../ui/format.js";
import { endsText, errorText, valueText } from "../ui/rounding.js";
import { asYear, isYear } from "../ui/years.js";
import { labelsOf, scalarPicture, wholePicture } from "./derived_pictures.js";
import { answerCard, asRehearsal, markRows, REHEARSAL } from "./rehearsal.js";
import { listed, worth } from "./release_results.js";
import { shareButtons } from "./share.js";

const spoken = (name) => name.replaceAll("_", " ");

const COUNTS = ["margin", "cumulative"];

/** Return the text of a number of an answer. */
const asOf = ({ derived, columns }, text) => asYear(text, isYear(derived, columns));

/** Return whether nothing is known about either end of an interval. */
const isUnknown = ([lower, upper]) => lower === null && upper === null;

/** Return an interval as text; an end is null if nothing is known about it. */
function between(answer, [lower, upper]) {
  if (isUnknown([lower, upper])) return "no information";
  const ends =
    lower === null || upper === null
      ? interval([lower ?? -Infinity, upper ?? Infinity])
      : endsText([lower, upper], { whole: COUNTS.includes(answer.derived.kind) }).join(" to ");
  return asOf(answer, ends);
}

/** Return a derived statistic in one line. */
export function derivedName({ kind, column, columns, category, where, missing, group_by, weight }) {
  const of =
    kind === "margin" ? `${column} in the table of ${columns.join(" and ")}` : (column ?? columns?.join(" and "));
  const asked = { kind: weight ? `weighted ${spoken(kind)}` : spoken(kind), column: of, where, group_by };
  const name = statistic(kind === "covariance" ? { kind, columns, where } : asked);
  const known = missing === undefined ? name : `${name}, known values`;
  return category === undefined ? known : `${known}: ${category}`;
}

/** Return an interval of dates as text. */
const dates = ([first, last]) => (first === null ? "no information" : `${date(first)} to ${date(last)}`);

/** Return the values of one estimate, with its picture unless the whole statistic has one. */
function estimate(answer, name, found, whole) {
  const dated = found.interval_as_date !== undefined;
  const value = dated ? found.value_as_date : found.value;
  const known = dated ? found.interval_as_date : found.interval;
  const unit = dated ? undefined : answer.units?.[name];
  const around = dated ? dates : (ends) => withUnit(between(answer, ends), isUnknown(ends) ? undefined : unit);
  const told = (one, interval) =>
    one === null ? "no value" : dated ? date(one) : withUnit(rounded(answer, one, interval), unit);
  if (Array.isArray(value)) {
    const labels = labelsOf(answer, value.length);
    const drawn = whole || dated ? null : rowsOf(answer, name, labels, found);
    const rows = value.map((each, at) => [labels[at], told(each, known[at]), around(known[at])]);
    const figures = longList({
      items: rows,
      noun: "value",
      textOf: ([label]) => label,
      render: (some) =>
        table(`${spoken(name)}, with intervals that hold for all at once`, ["Of", "Value", "Interval"], some, [1, 2]),
    });
    return {
      picture: drawn?.picture,
      content: [
        drawn?.content,
        h("details", { open: !drawn || rows.length <= 12 }, h("summary", {}, "Every value as a table"), figures),
      ],
    };
  }
  const drawn = whole || dated ? null : scalarPicture(answer, found, unit);
  return {
    picture: drawn?.picture,
    content: [
      whole || isUnknown(known) ? null : h("p", { class: "value" }, told(value, known)),
      drawn && [drawn.picture, worth(drawn.part, 1)],
      facts([
        [spoken(name), told(value, known)],
        ["Interval", around(known)],
      ]),
      isUnknown(known)
        ? notice("warn", `Nothing is known about the ${spoken(name)}: the noise is too large. Spend more ε on it.`)
        : h(
            "p",
            { class: "muted" },
            `The ${spoken(name)} is in the interval with ${confidence(answer.alpha)} confidence.`,
          ),
    ],
  };
}

/** Return a value to the place of its interval. */
const rounded = (answer, value, [low, high]) =>
  asOf(
    answer,
    COUNTS.includes(answer.derived.kind)
      ? number(Math.round(value))
      : low === null || high === null
        ? number(value)
        : valueText(value, [low, high]),
  );

/** Return the dots of a list, or its bars if it counts rows. */
function rowsOf(answer, name, labels, { value, interval }) {
  const ends = interval.map(([low, high]) => [low ?? -Infinity, high ?? Infinity]);
  const unit = answer.units?.[name];
  const rows = value.map((each, at) => ({
    label: labels[at],
    value: each,
    low: ends[at][0],
    high: ends[at][1],
    text: each === null ? "no value" : `${rounded(answer, each, interval[at])} (${between(answer, interval[at])})`,
  }));
  const title = withUnit(
    `${spoken(name)}${answer.derived.column ? ` of ${axisTitle(answer.derived.column, { label: answer.columns?.[answer.derived.column]?.label })}` : ""}`,
    unit && `(${unit})`,
  );
  return listed(
    rows,
    "group",
    answer.derived.kind === "margin" ? "bar" : "dot",
    title,
    `${title} for ${rows.length} groups, with intervals; the table below has the figures`,
    isYear(answer.derived, answer.columns) ? "year" : "linear",
  );
}

/** Return what a release of an answer costs: nothing if it is known, unless it was paid just before. */
const costOf = ({ release_id: id, reused, charged }, paid) =>
  paid.has(id) ? `${costText(paid.get(id))}, in the basket` : reused ? "0, known" : costText(charged);

/**
 * Return a table of the releases that a derived statistic follows from, or would follow from; see the caption. `paid`
 * has what some of them cost just before, by their ids.
 */
export function components(caption, { dataset, components: all, columns, rehearsed = false }, paid = new Map()) {
  const what = ({ release_id: id, statistic: asked }) =>
    id === null || rehearsed
      ? statistic(asked)
      : h("a", { href: `#${path("datasets", dataset, "releases", id)}` }, statistic(asked));
  return table(
    caption,
    ["As", "Release", "Radius", "ε"],
    all.map((each) => [
      spoken(each.role),
      what(each),
      `± ${withUnit(errorText(each.accuracy.radius), unitOf(each.statistic, columns))}`,
      costOf(each, paid),
    ]),
    [2, 3],
  );
}

/** Return what missing values and values outside the bounds count as, a line for each column. */
export const treatment = (answer) =>
  Object.values(answer.treatment ?? {}).map(({ rule }) =>
    h("p", { class: "muted" }, `${rule[0].toUpperCase()}${rule.slice(1)}.`),
  );

/** Return the exact figures of an answer, with their headings. */
function csvRows(answer) {
  const rows = Object.entries(answer.estimates).flatMap(([name, { value, interval }]) =>
    Array.isArray(value)
      ? labelsOf(answer, value.length).map((label, at) => [name, label, value[at], ...interval[at]])
      : [[name, "", value, ...interval]],
  );
  return [["estimate", "of", "value", "lower", "upper"], ...rows];
}

/** Return a sentence that names what was asked, of what, and where it comes from. */
const citation = ({ derived, dataset, alpha, epsilon, components: all, rehearsed }) =>
  rehearsed
    ? `${REHEARSAL}, not a release: ${derivedName(derived)} of the dataset “${dataset}”; ${location.origin}.`
    : `${derivedName(derived)} of the dataset “${dataset}” ` +
      `(${confidence(alpha)} confidence over the noise), derived from ${all.length} releases with ε-differential privacy (ε = ${epsilon} in all): ` +
      `Snapledger ${all.map(({ release_id: id }) => id).join(", ")}, ${location.origin}.`;

/** Return what an answer was charged, or how its releases were paid. */
function chargeText({ budget, components: all, rehearsed }, paid) {
  if (rehearsed) return "ε 0";
  if (budget.charged !== "0") return `ε ${budget.charged}`;
  const costs = all.map(({ release_id: id }) => paid.get(id)).filter(Boolean);
  return costs.length > 0
    ? `ε ${costText(sumOf(costs))} in the basket, for its releases`
    : "ε 0 (earlier releases answer)";
}

/**
 * Return a card with everything about the answer to the request `body`. `paid` has what its releases cost just before,
 * by their ids. What is left of the budget is shown only to who has just asked. `publisher` says what the user may
 * publish.
 */
export function derivedResult(
  answer,
  /** @type {{ body?: any, paid?: Map<string, string>, isNew?: boolean, publisher?: import("../figures/publisher.js").Publisher | null }} */ {
    body,
    paid = new Map(),
    isNew = true,
    publisher = null,
  },
) {
  const { budget, derived, dataset, epsilon } = answer;
  const whole = wholePicture(answer);
  const parts = Object.entries(answer.estimates).map(([name, each]) => estimate(answer, name, each, whole));
  const picture = whole ?? parts.find((part) => part.picture)?.picture;
  return answerCard(
    answer,
    h("h2", { tabindex: "-1" }, derivedName(derived)),
    h(
      "p",
      { class: "muted" },
      [
        dataset,
        `${confidence(answer.alpha)} confidence`,
        `derived from ${count(answer.components.length, "release")}`,
      ].join(" · "),
    ),
    whole,
    whole &&
      derived.kind === "regression" &&
      h("p", { class: "muted" }, "The band has every line whose slope and intercept are in their intervals."),
    parts.map(({ content }) => content),
    treatment(answer),
    shareButtons({
      name: `${dataset}-${derived.kind}${answer.rehearsed ? "-rehearsal" : ""}`,
      picture,
      rows: markRows(csvRows(answer), answer),
      citation: citation(answer),
      address: answer.rehearsed || !isNew ? null : derivedAddress(dataset, body),
      request: { dataset, to: "derived", body: { derived, epsilon, ...asRehearsal(answer) } },
      publication:
        publisher && !answer.rehearsed
          ? { dataset, source: { derived: body }, title: proposeTitle(derivedName(derived)), publisher }
          : null,
    }),
    components("The releases that it is derived from", answer, paid),
    facts([
      ["Charged", chargeText(answer, paid)],
      ["Left of the dataset's budget", isNew ? `ε ${budget.dataset_remaining}` : null],
      [
        "Left of your allowance",
        !isNew || budget.allowance_remaining === null ? null : `ε ${budget.allowance_remaining}`,
      ],
    ]),
  );
}
