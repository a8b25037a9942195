// The labels of bins and axes, and the places of bins on an axis.

import { axisTitle, binLabels, binnedColumns } from "../ui/format.js";
import { isOfYears } from "../ui/years.js";

/** @typedef {any} Release */

/** Return what is declared of a column for reading. */
export const textsOf = (/** @type {Release} */ { columns = {} }, /** @type {string} */ name) =>
  Object.hasOwn(columns, name) ? columns[name] : undefined;

/** Return the title of the axis of a column. */
export const titleOf = (/** @type {Release} */ release, /** @type {string} */ name) =>
  axisTitle(name, textsOf(release, name));

/** Return the labels of the bins of one column; older releases have `edges` alone. */
export function axisLabels(/** @type {any} */ release, /** @type {number} */ length, /** @type {any} */ declared) {
  if (release.bins) return binLabels(release.bins, declared);
  const intervals = release.edges.length - 1;
  const label = (/** @type {unknown} */ _, /** @type {number} */ at) =>
    at < intervals ? `[${release.edges[at]}, ${release.edges[at + 1]}${at === intervals - 1 ? "]" : ")"}` : "missing";
  return Array.from({ length }, label);
}

/** Return the labels of a release with one number for each bin or group. */
export const labelsOf = (/** @type {Release} */ release) =>
  axisLabels(release, release.value.length, textsOf(release, binnedColumns(release.statistic)[0]));

/** Return what the numbers of a list count or add up: a sum by group, or else rows. */
export const measureOf = (/** @type {Release} */ release) => {
  const { kind, column } = release.statistic;
  return kind === "sum" ? `sum of ${titleOf(release, column)}` : "rows";
};

/** Return a bound of a bin as a number on the axis: a number itself, or the time of a date. */
export const placeOf = (/** @type {unknown} */ bound) =>
  typeof bound === "number"
    ? bound
    : Date.parse(
        /[zZ]|[+-]\d\d:\d\d$/.test(String(bound)) || !String(bound).includes("T") ? String(bound) : `${bound}Z`,
      );

/** Return the bins of a release that lie on an axis, as `[from, to]` by position, or null where they have no order. */
export function placesOf(/** @type {Release} */ { bins, edges }) {
  const all =
    bins ??
    (edges ?? [])
      .slice(1)
      .map((/** @type {any} */ upper, /** @type {number} */ at) => ({ kind: "interval", lower: edges[at], upper }));
  const places = all.map(({ kind, lower, upper }) => (kind === "interval" ? [placeOf(lower), placeOf(upper)] : null));
  const known = places.filter(Boolean);
  return known.length > 0 && known.every(([from, to]) => Number.isFinite(from) && Number.isFinite(to)) ? places : null;
}

/** Return whether the axis of a release's bins has numbers, years or times. */
export function kindOf(/** @type {Release} */ { bins, edges, statistic, columns }) {
  const first = bins ? bins.find((/** @type {any} */ { kind }) => kind === "interval")?.lower : edges[0];
  if (typeof first !== "number") return "time";
  return isOfYears(statistic, columns) ? "year" : "linear";
}
