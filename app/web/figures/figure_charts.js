// Shows a figure's rows: a chart for each measure, and every number as a table.

import { chart, draw } from "../charts/charts.js";
import { ends, rowChart } from "../charts/rows.js";
import { h, longList, table } from "../ui/dom.js";
import { intervalText, labelOf, measureOf, numberOf, numberText, sharedConditions, unitOf } from "./row_texts.js";

/** @typedef {import("./row_texts.js").Row} Row */

const LINES = 20; // of a chart at first
const FEW = 12; // rows: the table is open

/** Return the rows in groups of one measure of the same columns and under the same conditions, in their order. */
function panelsOf(/** @type {Row[]} */ rows) {
  /** @type {Map<string, Row[]>} */
  const panels = new Map();
  const varied = sharedConditions(rows) === null;
  for (const row of rows) {
    const name = varied && row.conditions ? `${measureOf(row)}: ${row.conditions}` : measureOf(row);
    panels.set(name, [...(panels.get(name) ?? []), row]);
  }
  return [...panels];
}

/** Return where a date is on an axis of time, or null if it is unknown or beyond all dates. */
function placeOf(/** @type {string | null} */ date) {
  const at = date === null ? NaN : Date.parse(date.includes("T") ? `${date}Z` : date);
  return Number.isNaN(at) ? null : at;
}

/** Return the chart of one measure, with a search box and "Show more" if it has many lines. */
function panel(/** @type {[string, Row[]]} */ [name, rows]) {
  const mark = rows[0].measure === "count" ? "bar" : "dot";
  const dated = rows.some((row) => row.value_as_date !== null);
  const place = (/** @type {Row} */ row, /** @type {string} */ name) =>
    dated ? placeOf(row[`${name}_as_date`]) : row[name];
  const lines = rows.map((row) => ({
    label: labelOf(row),
    value: place(row, "value"),
    low: place(row, "interval_lower") ?? -Infinity,
    high: place(row, "interval_upper") ?? Infinity,
    text: numberText(row),
  }));
  const domain = ends(lines, mark === "bar"); // of all rows, so that it stays when some are shown
  const kind = dated ? "time" : rows[0].unit === "year" ? "year" : "linear";
  const drawn = chart(`${name}: ${rows.length} with their intervals; the table below has the figures`);
  return longList({
    items: lines,
    noun: "line",
    textOf: ({ label }) => label,
    step: LINES,
    render: (shown) => {
      draw(drawn, rowChart({ rows: shown, mark, title: name, domain, kind }));
      return drawn;
    },
  });
}

/** Return the charts of a figure's rows, and their table. */
export function figureCharts(/** @type {Row[]} */ rows) {
  const isSeveral = new Set(rows.map(measureOf)).size > 1;
  const units = rows.some(unitOf);
  const varied = sharedConditions(rows) === null;
  const cells = (/** @type {Row} */ row) => [
    labelOf(row),
    ...(isSeveral ? [measureOf(row)] : []),
    numberOf(row),
    intervalText(row),
    ...(units ? [unitOf(row) ?? ""] : []),
    ...(varied ? [row.conditions] : []),
  ];
  const headers = [
    "Of",
    ...(isSeveral ? ["Measure"] : []),
    "Value",
    "Interval",
    ...(units ? ["Unit"] : []),
    ...(varied ? ["Conditions"] : []),
  ];
  const first = isSeveral ? 2 : 1;
  return [
    panelsOf(rows).map(panel),
    h(
      "details",
      { open: rows.length <= FEW },
      h("summary", {}, "Every number as a table"),
      longList({
        items: rows,
        noun: "row",
        textOf: (row) => `${labelOf(row)} ${measureOf(row)} ${row.conditions}`,
        render: (shown) => table("With their intervals", headers, shown.map(cells), [first, first + 1]),
      }),
    ),
  ];
}
