// Shows a two-way table: its cells as a heatmap with numbers, and with their intervals as a table.

import { facts, h, table } from "../ui/dom.js";
import { number } from "../ui/format.js";
import { endsText, measured } from "../ui/rounding.js";
import { chart, draw } from "./charts.js";
import { heatmap } from "./heatmap.js";
import { titleOf } from "./labels.js";

/** @typedef {any} Release */

const MAX_CELLS = 10_000; // shown at most; a page with more is slow and unreadable

/** Return the labels of both axes, and of the values after the cells. */
export function axesOf(/** @type {Release} */ release, /** @type {Function} */ labels) {
  const outside = (release.bins ?? []).map((/** @type {any} */ { label }) => label);
  const known = release.axes.find((/** @type {any} */ { bins }) => bins)?.bins.length; // at least one of the two axes has bins
  const other = (release.value.length - outside.length) / known;
  const [rows, columns] = release.axes.map((/** @type {any} */ axis, /** @type {number} */ at) =>
    labels(axis, other, release.columns?.[release.statistic.columns[at]]),
  );
  return { rows, columns, outside };
}

/** Return the picture and the content of a two-way table; `labels` returns the labels of an axis. */
export function twoWay(/** @type {Release} */ release, /** @type {Function} */ labels) {
  const { rows, columns, outside } = axesOf(release, labels);
  const cells = rows.length * columns.length;
  if (cells > MAX_CELLS)
    return {
      picture: null,
      content: [h("p", {}, `${number(cells)} cells: too many to show here; the API returns all of them.`)],
    };
  const {
    value_in_range: values,
    accuracy: { interval, radius },
    statistic: {
      columns: [down, across],
    },
  } = release;
  const picture = chart(`Heatmap of ${rows.length} by ${columns.length} cells; the table below has the figures`);
  const text = (/** @type {number} */ at) => {
    const { value, error } = measured(values[at], radius);
    return `${value} ± ${error}`;
  };
  const grid = (/** @type {(at: number) => any} */ of) =>
    rows.map((/** @type {string} */ _, /** @type {number} */ row) =>
      columns.map((/** @type {string} */ __, /** @type {number} */ column) => of(row * columns.length + column)),
    );
  draw(
    picture,
    heatmap({
      rows,
      columns,
      values: grid((at) => values[at]),
      down: titleOf(release, down),
      across: titleOf(release, across),
      texts: grid((at) => `${rows[Math.floor(at / columns.length)]}, ${columns[at % columns.length]}: ${text(at)}`),
    }),
  );
  const cell = (/** @type {number} */ at) => [
    number(values[at]),
    h("small", {}, endsText(interval[at], { whole: true }).join(" to ")),
  ];
  const body = rows.map((/** @type {string} */ row, /** @type {number} */ at) => [
    h("span", { class: "row-name" }, row),
    ...columns.map((/** @type {string} */ _, /** @type {number} */ column) => cell(at * columns.length + column)),
  ]);
  const figures = h(
    "details",
    { open: cells <= 60 },
    h("summary", {}, "Every cell as a table"),
    table(
      `Rows by ${down} and ${across}, with their intervals`,
      [`${down} \\ ${across}`, ...columns],
      body,
      columns.map((/** @type {string} */ _, /** @type {number} */ at) => at + 1),
    ),
  );
  return {
    picture,
    figures,
    content: [
      picture,
      facts(
        outside.map((/** @type {string} */ label, /** @type {number} */ at) => [
          label,
          h("span", {}, cell(cells + at)),
        ]),
      ),
    ],
  };
}
