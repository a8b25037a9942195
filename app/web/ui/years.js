// Calendar years, which people write without separators: 2020, not 2,020. A pure module.

/** @typedef {import("./format.js").Declared} Declared */

const [FIRST, LAST] = [1000, 2999];
const NAMES = /(?:(?<![A-Za-z])y|Y)ears?(?![a-z])|(?<![A-Za-z])YEARS?(?![A-Za-z])/;

/**
 * Return whether a column holds calendar years, by the rule of the service's sentences: its bounds or edges are within
 * 1000 to 2999, and its unit is "year", or it has none and its name says year.
 * @param {string} name
 * @param {Declared | undefined} declared
 * @param {unknown[] | undefined} ends
 */
export function holdsYears(name, declared, ends) {
  const numbers = (ends ?? []).map(Number);
  const saysYear = declared?.unit ? declared.unit === "year" : NAMES.test(name);
  return saysYear && numbers.length > 0 && numbers.every((each) => each >= FIRST && each <= LAST);
}

/**
 * Return whether the values of a statistic's column are years; `at` is the place of one of two columns.
 * @param {any} statistic a statistic or a derived one, as the API answers
 * @param {Record<string, Declared> | undefined} columns
 */
export function isOfYears({ column, columns: pair, bounds, edges }, columns, at = 0) {
  const name = pair?.[at] ?? column;
  const ends = pair ? (edges?.[at] ?? bounds?.[at]) : (edges ?? bounds);
  return name !== undefined && holdsYears(name, columns?.[name], ends);
}

/** Return whether the answer to a statistic is a year itself, or several. */
export const isYear = (/** @type {any} */ statistic, /** @type {Record<string, Declared> | undefined} */ columns) =>
  ["mean", "quantile"].includes(statistic.kind) && isOfYears(statistic, columns);

/** Return the text of a number, without separators if it is a year. */
export const asYear = (/** @type {string} */ text, /** @type {boolean} */ year) =>
  year ? text.replaceAll(",", "") : text;
