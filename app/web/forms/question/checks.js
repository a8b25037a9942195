// What is wrong with a text that was typed, in words; null if it is right. A pure module.

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;

export const isDecimal = (text) => DECIMAL.test(text.trim());

/** Return a check that a text is a number, above `least` if that is given. */
export const aNumber =
  (what, example, /** @type {number | null} */ least = null) =>
  (text) => {
    if (text.trim() === "") return `${what} is missing: type a number, such as ${example}.`;
    if (!isDecimal(text)) return `${what} must be a number, such as ${example}: digits, with a point before decimals.`;
    return least !== null && Number(text) <= least ? `${what} must be more than ${least}.` : null;
  };

/** Return a check that a text is empty or a number. */
export const perhapsANumber = (what, example) => (text) => (text.trim() === "" ? null : aNumber(what, example)(text));

/** Check a confidence in percent, with as many decimals as somebody wants. */
export const aConfidence = (text) =>
  /^\d{1,2}(\.\d+)?$/.test(text.trim()) && Number(text) > 0
    ? null
    : "The confidence must be more than 0 and less than 100 %, such as 95 or 99.9.";

/** Check a probability, as γ is. */
export const aProbability = (what) => (text) =>
  isDecimal(text) && Number(text) > 0 && Number(text) < 1
    ? null
    : `${what} must be more than 0 and less than 1, such as 0.05.`;

/** Check the grid refinement. */
export const aRefinement = (text) =>
  /^(auto|[0-9]|[12][0-9]|30)$/.test(text.trim())
    ? null
    : "The grid refinement must be auto or a whole number from 0 to 30.";

/** Check the number of bins. */
export const aBinCount = (text) =>
  /^[1-9]\d{0,6}$/.test(text.trim()) && Number(text) <= 1_000_000
    ? null
    : "The number of intervals must be a whole number from 1 to 1,000,000.";

/** Check a list of probabilities, separated by commas. */
export function probabilities(text) {
  const all = text
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  if (all.length === 0) return "Type one or more shares of the rows in percent, such as 25, 50, 75.";
  const wrong = all.find((each) => !isDecimal(each) || !(Number(each) > 0 && Number(each) < 100));
  return wrong === undefined ? null : `${wrong} must be more than 0 and less than 100 %: 50 is the median.`;
}

/** Check edges of intervals, separated by commas; `order` turns one into a number, or NaN. */
export const edges = (order) => (text) => {
  const all = text
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  if (all.length < 2) return "Type two or more edges, separated by commas.";
  const wrong = all.find((each) => !Number.isFinite(order(each)));
  if (wrong !== undefined) return `${wrong} is not a value of this column.`;
  return all.every((each, at) => at === 0 || order(all[at - 1]) < order(each)) ? null : "The edges must ascend.";
};

/** Check two bounds together; `order` turns one into a number, or NaN. */
export const bounds = (order) => (lower, upper) => {
  if (!Number.isFinite(order(lower)) || !Number.isFinite(order(upper)))
    return "Both bounds must be values of this column.";
  return order(lower) < order(upper) ? null : "The lower bound must be less than the upper bound.";
};
