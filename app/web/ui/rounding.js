// Rounds numbers for people, as the service's sentences do: two significant digits of the error, or whole numbers, and
// the value to the same place. What is promised is rounded outwards, so that it stays true.

import { number } from "./format.js";

const DIGITS = 2;
const MAX_PLACES = 12;
const MAX_WHOLE = 1e15;

/** Return the exponent of the last digit that is shown beside an error, or null if rounding makes no sense. */
function placeOf(/** @type {number} */ error) {
  if (!(error > 0) || !Number.isFinite(error)) return null;
  const place = Math.min(0, Math.floor(Math.log10(error)) - DIGITS + 1);
  return place < -MAX_PLACES || error >= MAX_WHOLE ? null : place;
}

/** Round to a place; the quotient loses the last digit of a double, so that 0.3 is 30 hundredths and not 31. */
function roundTo(/** @type {number} */ value, /** @type {number} */ place, round = Math.round) {
  const steps = round(Number((place < 0 ? value * 10 ** -place : value / 10 ** place).toPrecision(14)));
  return place < 0 ? steps / 10 ** -place : steps * 10 ** place;
}

const written = (/** @type {number} */ value, /** @type {number} */ place) =>
  (Object.is(value, -0) ? 0 : value).toLocaleString("en", {
    minimumFractionDigits: Math.max(0, -place),
    maximumFractionDigits: Math.max(0, -place),
  });

/**
 * Return a value and its error as texts, such as "4,209" and "116". The error covers how far the value was rounded.
 * @param {number} value
 * @param {number} error
 */
export function measured(value, error) {
  const place = placeOf(error);
  if (place === null) return { value: number(value), error: number(error) };
  const shown = roundTo(value, place);
  return {
    value: written(shown, place),
    error: written(roundTo(error + Math.abs(value - shown), place, Math.ceil), place),
  };
}

/** Return an error alone, rounded up: "± 116" without its sign. */
export const errorText = (/** @type {number} */ error) => measured(0, error).error;

/**
 * Return an interval as two texts, rounded outwards to two digits of half its width, or to whole numbers if it is of a
 * count.
 * @param {[number, number]} interval
 * @param {{ whole?: boolean }} [of]
 * @returns {[string, string]}
 */
export function endsText([lower, upper], { whole = false } = {}) {
  const place = whole && Math.abs(upper) < MAX_WHOLE ? 0 : placeOf((upper - lower) / 2);
  if (place === null) return [number(lower), number(upper)];
  return [written(roundTo(lower, place, Math.floor), place), written(roundTo(upper, place, Math.ceil), place)];
}

/**
 * Return a value to the place of its interval.
 * @param {number} value
 * @param {[number, number]} interval
 */
export function valueText(value, [lower, upper]) {
  const place = placeOf((upper - lower) / 2);
  return place === null ? number(value) : written(roundTo(value, place), place);
}

const compactNumber = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });

/** Return a number as short as an axis needs it: 25,000 or 1.2M. */
export const tickText = (/** @type {number} */ value) =>
  Math.abs(value) >= 1e6 ? compactNumber.format(value) : number(value);

/** Return a part of a whole as a percentage with two significant digits. */
export function percent(/** @type {number} */ part) {
  const value = Number((100 * part).toPrecision(2));
  return `${value < 0.01 ? "less than 0.01" : number(value)} %`;
}
