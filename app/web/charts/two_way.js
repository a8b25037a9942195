// Shows a two-way table: its cells as a heatmap, and with their intervals as a table.

import { facts, h, table } from "../ui/dom.js";
import { axisTitle, interval, number, plain } from "../ui/format.js";
import { chart, draw, palette } from "./charts.js";

const MAX_CELLS = 10_000; // shown at most; a page with more is slow and unreadable

/** Return the labels of both axes, and of the values after the cells. */
export function axesOf(release, labels) {
  const outside = (release.bins ?? []).map(({ label }) => label);
  const known = release.axes.find(({ bins }) => bins)?.bins.length; // at least one of the two axes has bins
  const other = (release.value.length - outside.length) / known;
  const [rows, columns] = release.axes.map((axis, at) => labels(axis, other, release.columns?.[release.statistic.columns[at]]));
  return { rows, columns, outside };
}

function heatmap({ value_in_range: values, statistic, columns: texts = {} }, rows, columns) {
  const { accent, grid } = palette();
  const z = rows.map((_, row) => values.slice(row * columns.length, (row + 1) * columns.length));
  const axis = (labels, name) => ({ title: { text: plain(axisTitle(name, texts[name])) }, tickmode: "array", showgrid: false,
    tickvals: labels.map((_, at) => at), ticktext: labels.map((label) => plain(label, 20)) });
  const hover = rows.map((row) => columns.map((column) => `${plain(row)}, ${plain(column)}`));
  return {
    data: [{ type: "heatmap", z, text: hover, hovertemplate: "%{text}: %{z}<extra></extra>",
      colorscale: [[0, grid], [1, accent]], colorbar: { thickness: 12 } }],
    layout: { height: Math.min(800, 180 + 28 * rows.length), xaxis: axis(columns, statistic.columns[1]),
      yaxis: { ...axis(rows, statistic.columns[0]), autorange: "reversed" } },
  };
}

/** Return the elements of a two-way table; `labels` returns the labels of an axis. */
export function twoWay(release, labels) {
  const { rows, columns, outside } = axesOf(release, labels);
  const cells = rows.length * columns.length;
  if (cells > MAX_CELLS) return [h("p", {}, `${number(cells)} cells: too many to show here; the API returns all of them.`)];
  const picture = chart(`Heatmap of ${rows.length} by ${columns.length} cells; the table below has the figures`);
  draw(picture, () => heatmap(release, rows, columns));
  const cell = (at) => [number(release.value_in_range[at]), h("small", {}, interval(release.accuracy.interval[at]))];
  const [down, across] = release.statistic.columns;
  const body = rows.map((row, at) => [row, ...columns.map((_, column) => cell(at * columns.length + column))]);
  return [picture,
    h("details", { open: cells <= 60 }, h("summary", {}, "Every cell as a table"),
      table(`Rows by ${down} and ${across}, with their intervals`, [`${down} \\ ${across}`, ...columns], body,
        columns.map((_, at) => at + 1))),
    facts(outside.map((label, at) => [label, h("span", {}, cell(cells + at))]))];
}
