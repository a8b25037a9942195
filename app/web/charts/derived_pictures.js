// The pictures of derived statistics: a line with its band, a cumulative curve, dots for groups and quantiles, or one
// interval in the range that it can have.

import { axisTitle, binLabels, binnedColumns, date, number, withUnit } from "../ui/format.js";
import { endsText, percent, tickText, valueText } from "../ui/rounding.js";
import { asYear, isOfYears, isYear } from "../ui/years.js";
import { chart, draw } from "./charts.js";
import { placeOf } from "./labels.js";
import { lines } from "./lines.js";
import { rangePicture } from "./range.js";

/** @typedef {any} Answer a derived statistic as the API answers */
/** @typedef {{ value: any, interval: any, value_as_date?: any, interval_as_date?: any }} Estimate */

const POINTS = 40; // of the edges of a band
const ACCENT = "var(--accent)";

const title = (/** @type {Answer} */ { columns = {} }, /** @type {string} */ name) => axisTitle(name, columns[name]);

/** Return the kind of the axis of a column of numbers. */
const axisOf = (/** @type {Answer} */ { derived, columns }, at = 0) =>
  isOfYears(derived, columns, at) ? "year" : "linear";

/** Return the label of each number of a list. */
export function labelsOf(/** @type {Answer} */ { derived, edges, bins, columns = {} }, /** @type {number} */ length) {
  if (bins) return binLabels(bins, columns[derived.kind === "margin" ? derived.column : binnedColumns(derived)[0]]);
  if (derived.kind === "quantile")
    return derived.probabilities.map((/** @type {number} */ each) => (each === 0.5 ? "0.5 (median)" : String(each)));
  return (edges ?? Array.from({ length })).map((/** @type {any} */ edge, /** @type {number} */ at) =>
    edge === undefined ? String(at + 1) : `below ${typeof edge === "string" ? date(edge) : edge}`,
  );
}

/** Return the line of a regression, and the band of all lines whose slope and intercept are in their intervals. */
function regression(/** @type {Answer} */ answer) {
  const {
    derived: {
      columns: [x, y],
      bounds,
    },
    estimates: { slope, intercept },
  } = answer;
  const corners = [...slope.interval, ...intercept.interval];
  if (
    slope.value === null ||
    intercept.value === null ||
    corners.some((end) => end === null) ||
    !bounds ||
    typeof bounds[0][0] !== "number"
  )
    return null;
  const [from, to] = bounds[0];
  const at = Array.from({ length: POINTS + 1 }, (_, step) => from + ((to - from) * step) / POINTS);
  const of = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ value) => a + b * value;
  const band = at.map((value) => {
    const ends = intercept.interval.flatMap((/** @type {number} */ a) =>
      slope.interval.map((/** @type {number} */ b) => of(a, b, value)),
    );
    return /** @type {[number, number, number]} */ ([value, Math.min(...ends), Math.max(...ends)]);
  });
  const points = /** @type {[number, number][]} */ (
    [from, to].map((value) => [value, of(intercept.value, slope.value, value)])
  );
  return lines({
    x: { title: title(answer, x), kind: axisOf(answer, 0) },
    y: { title: title(answer, y), kind: axisOf(answer, 1) },
    series: [
      { name: "lines in both intervals", color: ACCENT, band },
      { name: "regression line", color: ACCENT, points },
    ],
  });
}

/** Return how many rows are below each edge, with the band that holds for all edges at once. */
function cumulative(/** @type {Answer} */ answer) {
  const {
    derived: { column, bounds },
    edges,
    estimates: {
      cumulative: { value, interval },
    },
  } = answer;
  const at = edges.map(placeOf);
  if (!at.every(Number.isFinite)) return null;
  const start = bounds && placeOf(bounds[0]) < at[0] ? [placeOf(bounds[0])] : [];
  const points = /** @type {[number, number][]} */ ([
    ...start.map((x) => [x, 0]),
    ...at.map((/** @type {number} */ x, /** @type {number} */ each) => [x, value[each]]),
  ]);
  const band = /** @type {[number, number, number][]} */ ([
    ...start.map((x) => [x, 0, 0]),
    ...at.map((/** @type {number} */ x, /** @type {number} */ each) => [x, ...interval[each]]),
  ]);
  return lines({
    x: { kind: typeof edges[0] === "number" ? axisOf(answer) : "time", title: title(answer, column) },
    y: { title: "rows below", zero: true },
    series: [
      { name: "interval", color: ACCENT, band },
      { name: "rows below", color: ACCENT, points, dots: true },
    ],
    tip: (_, count) => `${number(count)} rows`,
  });
}

/** Return the least and the largest value that a derived number can have in any table, or null if it has no such range. */
export function rangeOf({ kind, bounds }) {
  if (kind === "proportion") return [0, 1];
  if (kind === "correlation") return [-1, 1];
  const [low, high] = Array.isArray(bounds) ? bounds.map(placeOf) : [NaN, NaN];
  if (!(low < high) || typeof bounds[0] !== "number") return null;
  if (kind === "mean") return [low, high];
  if (kind === "standard_deviation") return [0, (high - low) / 2];
  if (kind === "variance") return [0, (high - low) ** 2 / 4];
  return null;
}

/** Return the picture of one number, or null where nothing bounds it. */
export function scalarPicture(
  /** @type {Answer} */ { derived, columns },
  /** @type {Estimate} */ { value, interval },
  /** @type {string | undefined} */ unit,
) {
  const range = rangeOf(derived);
  if (value === null || range === null || interval.some((/** @type {any} */ end) => end === null)) return null;
  const shown = (/** @type {string} */ text) => withUnit(asYear(text, isYear(derived, columns)), unit);
  const ends = range.map((end) => (derived.kind === "proportion" ? percent0(end) : shown(tickText(end))));
  const around = shown(endsText(interval).join(" to "));
  const picture = chart(
    `${shown(valueText(value, interval))}, in the interval ${around}; possible is ${ends.join(" to ")}`,
  );
  draw(
    picture,
    rangePicture({
      range: /** @type {[number, number]} */ (range),
      interval,
      value,
      ends: /** @type {[string, string]} */ (ends),
      text: around,
    }),
  );
  return { picture, part: (interval[1] - interval[0]) / (range[1] - range[0]) };
}

const percent0 = (/** @type {number} */ part) => (part === 0 ? "0" : `1 (${percent(part)})`);

/** Return the picture of a statistic that is one figure as a whole, or null. */
export function wholePicture(/** @type {Answer} */ answer) {
  const { kind } = answer.derived;
  const make = kind === "regression" ? regression(answer) : kind === "cumulative" ? cumulative(answer) : null;
  if (!make) return null;
  const picture = chart(
    kind === "regression"
      ? "The regression line with its band; the values below have the figures"
      : "Rows below each edge, with a band; the table below has the figures",
  );
  draw(picture, make);
  return picture;
}
