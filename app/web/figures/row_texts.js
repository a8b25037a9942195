// A row's number and interval as people read them, as the service's own page of a figure has them. A pure module.

import { date, number, withUnit } from "../ui/format.js";
import { endsText, valueText } from "../ui/rounding.js";
import { asYear } from "../ui/years.js";

/** @typedef {any} Row a row of a figure as the API answers */

const ofYears = (/** @type {Row} */ { unit }) => unit === "year";

/** Return the row's label, after its group if it has another one. */
export const labelOf = (/** @type {Row} */ { group, label }) =>
  group === null || group === label ? label : `${group} · ${label}`;

/** Return what a row's number is: "mean of body_mass_g", "count by species". */
export function measureOf(/** @type {Row} */ { measure, columns }) {
  const name = measure.replaceAll("_", " ");
  return columns ? `${name} ${measure === "count" ? "by" : "of"} ${columns}` : name;
}

/** Return the conditions of all rows, which may be empty, or null if they are not the same. */
export function sharedConditions(/** @type {Row[]} */ rows) {
  const found = [...new Set(rows.map((row) => row.conditions))];
  return found.length > 1 ? null : (found[0] ?? "");
}

/** Return the number, without its unit. */
export function numberOf(/** @type {Row} */ row) {
  const { value, value_as_date: day, interval_lower: low, interval_upper: high, measure } = row;
  if (value === null) return "undefined";
  if (day !== null) return date(day);
  const text = measure === "count" || low === null || high === null ? number(value) : valueText(value, [low, high]);
  return asYear(text, ofYears(row));
}

/** Return the unit of the number, or nothing if there is none, or the number is a date. */
export const unitOf = (/** @type {Row} */ { value, value_as_date: day, unit }) =>
  value === null || day !== null ? undefined : (unit ?? undefined);

/** Return the number with its unit. */
export const numberText = (/** @type {Row} */ row) => withUnit(numberOf(row), unitOf(row));

/** Return the interval: "4,093 to 4,326", "at least 3", dates of a date, or nothing if both ends are unknown. */
export function intervalText(/** @type {Row} */ row) {
  const { interval_lower: low, interval_upper: high, measure, value_as_date: day } = row;
  const { interval_lower_as_date: first, interval_upper_as_date: last } = row;
  if (first !== null) return `${date(first)} to ${date(last)}`;
  if (day !== null) return "";
  if (low === null && high === null) return "";
  const text =
    low === null
      ? `at most ${number(high)}`
      : high === null
        ? `at least ${number(low)}`
        : endsText([low, high], { whole: measure === "count" }).join(" to ");
  return asYear(text, ofYears(row));
}
