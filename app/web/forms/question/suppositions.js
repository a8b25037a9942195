// What may be supposed of a table by its public facts alone: the range of a statistic, and guesses to begin with.

import { numeric, temporal } from "../../ui/controls.js";

const DAY_MS = 86_400_000;
const PERIOD_DAYS = { day: 1, iso_week: 7, month: 365.2425 / 12, quarter: 365.2425 / 4, year: 365.2425 };
const SHARE_OF_ROWS = 0.5; // of a filter about which nothing is said

/** Return a value of a column as a number: dates as days since 1970. */
export function toNumber(value, declared) {
  if (value === true || value === false) return Number(value);
  if (!temporal(declared)) return Number(value);
  return Date.parse(/T/.test(value) ? `${String(value).replace(/Z$/, "")}Z` : value) / DAY_MS;
}

/** Return a number as a value of a column, for people and for requests: dates as text. */
export function fromNumber(value, declared) {
  if (declared?.kind === "date") return new Date(Math.round(value) * DAY_MS).toISOString().slice(0, 10);
  if (declared?.kind === "timestamp")
    return new Date(Math.round((value * DAY_MS) / 1000) * 1000).toISOString().slice(0, 19);
  return spell(value);
}

/** Return a number as a decimal with three significant digits, and no exponent. */
function spell(value) {
  if (value === 0 || !Number.isFinite(value)) return "0";
  const rounded = Number(value.toPrecision(3));
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  const text = rounded.toFixed(Math.min(places, 15));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Return the bounds of a column as numbers: those of the question, or the declared ones; booleans are 0 and 1. */
export function boundsOf(declared, typed) {
  if (declared.kind === "boolean") return [0, 1];
  if (!numeric(declared)) return null;
  const ends = (typed ?? declared.bounds).map((bound) => toNumber(bound, declared));
  return ends.every(Number.isFinite) && ends[0] < ends[1] ? ends : null;
}

/** Return the smallest and the largest value that a statistic can have, as numbers; null if it has none or several. */
export function publicRange({ to, statistic }, { columns, n }) {
  const { kind, column, columns: pair, bounds, where } = statistic;
  const ends = (at) => boundsOf(columns[pair?.[at] ?? column], pair ? bounds?.[at] : bounds);
  const width = (at) => ends(at)[1] - ends(at)[0];
  if (["count", "missing", "histogram", "cumulative", "margin"].includes(kind)) return [0, n];
  if (kind === "proportion") return [0, 1];
  if (kind === "correlation") return [-1, 1];
  if (kind === "quantile") return outerEdges(statistic, columns[column]);
  if (kind === "regression" || ends(0) === null || (pair && ends(1) === null)) return null;
  if (kind === "mean") return ends(0);
  if (kind === "sum") {
    const [lower, upper] = ends(0).map((end) => end * n);
    return where || statistic.group_by || to === "derived" ? [Math.min(0, lower), Math.max(0, upper)] : [lower, upper];
  }
  const most = n / (n - 1) / 4; // half of the values at each end
  if (kind === "variance") return [0, most * width(0) ** 2];
  if (kind === "standard_deviation") return [0, Math.sqrt(most) * width(0)];
  return [-most * width(0) * width(1), most * width(0) * width(1)];
}

function outerEdges({ edges, bounds }, declared) {
  return boundsOf(declared, edges?.length > 1 ? [edges[0], edges.at(-1)] : bounds);
}

/** Return how many groups a statistic has, at least 1. */
export function groupCount(group, columns) {
  if (!group) return 1;
  const declared = columns[group.column ?? group];
  if (declared.categories) return Math.max(1, declared.categories.length);
  const [first, last] = boundsOf(declared, group.bounds) ?? [0, 1];
  return Math.max(1, Math.ceil((last - first) / PERIOD_DAYS[group.bins]));
}

/**
 * Return a guess to begin with for each name that a statistic takes, as text. Nobody knows the table: a mean is a
 * quarter of the way up (in the middle, a mean would seem cheaper than it is), a deviation a sixth of the range.
 */
export function supposed({ statistic }, { columns, n }) {
  const { columns: pair, column, bounds, where, group_by: group, weight, kind } = statistic;
  const declared = (at) => columns[pair?.[at] ?? column];
  const ends = (at) =>
    (kind === "quantile"
      ? outerEdges(statistic, declared(0))
      : boundsOf(declared(at), pair ? bounds?.[at] : bounds)) ?? [0, 1];
  const up = (at, part) => ends(at)[0] + part * (ends(at)[1] - ends(at)[0]);
  const sixth = (at) => (ends(at)[1] - ends(at)[0]) / 6;
  const rows = Math.max(1, Math.floor((n * (where ? SHARE_OF_ROWS : 1)) / groupCount(group, columns)));
  const made = {
    mean: () => fromNumber(up(0, kind === "quantile" ? 0.5 : 0.25), declared(0)),
    mean_x: () => fromNumber(up(0, 0.25), declared(0)),
    mean_y: () => fromNumber(up(1, 0.25), declared(1)),
    standard_deviation: () => spell(sixth(0)),
    standard_deviation_x: () => spell(sixth(0)),
    standard_deviation_y: () => spell(sixth(1)),
    correlation: () => "0.5",
    slope: () => spell(sixth(1) / sixth(0) / 2),
    proportion: () => "0.25",
    count: () => String(rows),
    weight: () => spell(boundsOf(columns[weight]).reduce((lower, upper) => lower + (upper - lower) / 4)),
  };
  return (name) => made[name]?.() ?? "";
}
