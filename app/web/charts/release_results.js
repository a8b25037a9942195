// Shows a release: the value with its error bar, what it means, and what it cost.

import { facts, fill, h, table } from "../ui/dom.js";
import {
  axisTitle, binLabels, binnedColumns, bound, date, interval, number, plain, statistic, time, withUnit,
} from "../ui/format.js";
import { chart, draw, palette } from "./charts.js";
import { twoWay } from "./two_way.js";

const BINS_SHOWN = 1000; // at a time: more bars are too narrow to see, and slow
const TICKS = 40;

/** Return the service's summary and, for several numbers, the radius that holds for all at once. */
export function meaning(release) {
  const together = release.accuracy.simultaneous_radius;
  return together === undefined ? release.summary : `${release.summary} All at once are within ${bound(together)} of the truth.`;
}

/** Return the title of the axis of one number: the statistic, what its column is called, and the unit. */
function valueTitle({ statistic: asked, columns = {}, unit }) {
  const label = columns[asked.column]?.label;
  return withUnit(label ? `${statistic(asked)}: ${label}` : statistic(asked), unit && `(${unit})`);
}

function scalar(release) {
  const { value_in_range: value, accuracy: { interval: [lower, upper] } } = release;
  const { unit } = release;
  const picture = chart(`${withUnit(number(value), unit)}, in the interval from ${withUnit(interval([lower, upper]), unit)}`);
  draw(picture, () => {
    const { accent } = palette();
    return {
      data: [{
        type: "scatter", mode: "markers", x: [value], y: [""], marker: { size: 12, color: accent },
        error_x: { type: "data", symmetric: false, array: [upper - value], arrayminus: [value - lower],
          color: accent, thickness: 3, width: 12 },
        hovertemplate: "%{x}<extra></extra>",
      }],
      layout: { height: 140, xaxis: { title: { text: plain(valueTitle(release), 90) } } },
    };
  });
  return [h("p", { class: "value" }, number(value), h("span", {}, ` ± ${withUnit(bound(release.accuracy.radius), unit)}`)), picture];
}

/** Show a mean of dates as a date. */
function dated({ value_as_date: value, accuracy: { interval_as_date: [first, last] } }) {
  return [h("p", { class: "value" }, date(value)), h("p", {}, `${date(first)} to ${date(last)}`)];
}

const textsOf = ({ columns = {} }, name) => (Object.hasOwn(columns, name) ? columns[name] : undefined);

const labelsOf = (release) => axisLabels(release, release.value.length, textsOf(release, binnedColumns(release.statistic)[0]));

/** Return the labels of the bins of one column. */
function axisLabels(release, length, declared) {
  if (release.bins) return binLabels(release.bins, declared);
  const intervals = release.edges.length - 1;
  const label = (_, at) => (at < intervals
    ? `[${release.edges[at]}, ${release.edges[at + 1]}${at === intervals - 1 ? "]" : ")"}` : "missing");
  return Array.from({ length }, label);
}

/** Return what the numbers of a list count or add up: a sum by group, or else rows. */
const measure = (release) => {
  const { kind, column } = release.statistic;
  return kind === "sum" ? `sum of ${axisTitle(column, textsOf(release, column))}` : "rows";
};

function barsOf(release, labels, from) {
  const to = Math.min(from + BINS_SHOWN, labels.length);
  const at = Array.from({ length: to - from }, (_, position) => from + position);
  const values = at.map((bin) => release.value_in_range[bin]);
  const bounds = at.map((bin) => release.accuracy.interval[bin]);
  const every = Math.ceil(at.length / TICKS);
  const ticks = at.filter((_, position) => position % every === 0);
  const { accent, text, muted } = palette();
  const [name] = binnedColumns(release.statistic);
  return {
    data: [{
      // By position, not by label: plotly would draw two bins with the same label as one bar.
      type: "bar", x: at, y: values, marker: { color: accent, line: { width: 0 } },
      text: at.map((bin) => plain(labels[bin])), textposition: "none",
      hovertemplate: "%{text}: %{y}<extra></extra>",
      error_y: { type: "data", symmetric: false, color: at.length > 200 ? muted : text, width: at.length > 50 ? 0 : 4,
        array: bounds.map(([, upper], position) => upper - values[position]),
        arrayminus: bounds.map(([lower], position) => values[position] - lower) },
    }],
    layout: {
      xaxis: { title: { text: plain(axisTitle(name, textsOf(release, name)), 60) }, showgrid: false, tickmode: "array", tickvals: ticks, ticktext: ticks.map((bin) => plain(labels[bin], 20)) },
      yaxis: { title: { text: plain(measure(release), 60) }, rangemode: "tozero" },
    },
  };
}

function histogram(release) {
  const labels = labelsOf(release);
  const one = release.statistic.group_by === undefined ? "Bin" : "Group";
  const picture = chart(`Bars of ${labels.length} ${one.toLowerCase()}s; the table below has the figures`);
  const figures = h("div");
  const shown = h("p");
  const show = (from) => {
    draw(picture, () => barsOf(release, labels, from));
    const rows = labels.slice(from, from + BINS_SHOWN).map((label, position) => [
      label, number(release.value_in_range[from + position]), interval(release.accuracy.interval[from + position])]);
    fill(figures, h("details", { open: rows.length <= 12 }, h("summary", {}, `Every ${one.toLowerCase()} as a table`),
      table("With their intervals", [one, measure(release), "Interval"], rows, [1, 2])));
    const page = (text, to) => h("button", { type: "button", class: "quiet", click: () => show(to) }, text);
    fill(shown, labels.length > BINS_SHOWN && [
      `Bins ${from + 1} to ${Math.min(from + BINS_SHOWN, labels.length)} of ${labels.length}. `,
      from > 0 && page("Earlier bins", from - BINS_SHOWN),
      from + BINS_SHOWN < labels.length && page("Later bins", from + BINS_SHOWN)]);
  };
  show(0);
  return [picture, shown, figures];
}

/** Return a card with everything about a release. */
export function result(release, heading = "h2") {
  const { accuracy, budget, mechanism, privacy } = release;
  const many = Array.isArray(release.value);
  return h("section", { class: "card result" },
    h(heading, { tabindex: "-1" }, statistic(release.statistic)),
    release.axes ? twoWay(release, axisLabels) : many ? histogram(release) : release.value_as_date ? dated(release) : scalar(release),
    h("p", {}, meaning(release)),
    facts([
      ["Charged", `ε ${budget.charged}${release.reused ? " (an earlier release answers)" : ""}`],
      ["Released at", time(release.created_at)],
      ["Left of the dataset's budget", `ε ${budget.dataset_remaining}`],
      ["Left of your allowance", budget.allowance_remaining === null ? null : `ε ${budget.allowance_remaining}`],
      ["Paid for the first time", `ε ${privacy.epsilon}`],
    ]),
    h("details", {}, h("summary", {}, "How it was drawn"), facts([
      ["Id", h("code", {}, release.id)],
      ["Exact value", many ? null : h("code", {}, release.value_exact)],
      ["Radius", withUnit(bound(accuracy.radius), release.unit)],
      ["Tight radius", withUnit(bound(accuracy.tight_radius), release.unit)],
      ["Confidence", `${number(100 * (1 - accuracy.alpha))} %`], ["γ", number(mechanism.gamma)],
      ["Sensitivity", number(mechanism.sensitivity)], ["Scale", number(mechanism.scale)],
      ["Grid", number(mechanism.grid)], ["Grid refinement", String(mechanism.grid_refinement)],
      ["ε a bin", mechanism.epsilon_per_bin === undefined ? null : number(mechanism.epsilon_per_bin)],
      ["Protects", `the values in ${privacy.rows_per_unit === 1 ? "one row" : `${privacy.rows_per_unit} rows`} `
        + `of ${privacy.n}`],
    ])));
}
