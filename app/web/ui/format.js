// Formats numbers, times and names. An ε stays a decimal string; `Number(ε)` is only for drawing.

/** @typedef {{ label?: string, unit?: string, category_labels?: Record<string, string> }} Declared what is declared of a column for reading */

const DIGITS = 6;
const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: DIGITS, useGrouping: true });
const whole = new Intl.NumberFormat("en");
const EXPONENT_DIGITS = 4;

export function number(value) {
  if (!Number.isFinite(value)) return String(value);
  if (hasExponent(value)) return value.toExponential(EXPONENT_DIGITS);
  return Number.isInteger(value) ? whole.format(value) : significant.format(value);
}

const hasExponent = (value) => value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e15);

/** Return the nearest number with the digits that are shown that is not below `value`. */
function upwards(value) {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !hasExponent(value))) return value;
  const digits = hasExponent(value) ? EXPONENT_DIGITS : DIGITS - 1;
  const [mantissa, exponent] = value.toExponential(digits).split("e");
  if (Number(`${mantissa}e${exponent}`) >= value) return Number(`${mantissa}e${exponent}`);
  return Number(`${(Number(mantissa) + 10 ** -digits).toFixed(digits)}e${exponent}`);
}

/** Return a bound of an error: like `number`, but never rounded below it. */
export const bound = (value) => number(upwards(value));

/** Return the confidence level of an α, rounded down, with two decimals, or with eight above 99.99 %: "95 %". */
export function confidence(/** @type {number} */ alpha) {
  const units = alpha < 1e-4 ? 1e8 : 100;
  return `${Math.min(Math.floor(100 * units * (1 - alpha) + 1e-4), 100 * units - 1) / units} %`;
}

/** Return the plural of a noun: "rows", "entries", "days". */
export const plural = (noun) => (/[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/** Return a count with its noun: "1 row", "344 rows". */
export const count = (n, noun) => `${whole.format(n)} ${n === 1 ? noun : plural(noun)}`;

/** Return a number with its unit, if it has one. */
export const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);

const inBrackets = (unit) => (/[\s/·*^]/.test(unit) ? `(${unit})` : unit);

/** Return the unit of the numbers of a statistic, by what is declared of its columns: "rows" for counts. */
export function unitOf({ kind, column, columns: pair, weight }, declared = {}) {
  if (["count", "histogram", "missing", "quantile_search", "adaptive_histogram"].includes(kind)) return "rows";
  const units = (pair ?? [column]).map((name) => declared[name]?.unit);
  if (!units.every(Boolean) || weight) return undefined;
  const [one, other = one] = units.map(inBrackets);
  if (kind === "mean" || kind === "sum") return units[0];
  return one === other ? `${one}²` : `${one}·${other}`;
}

/** Return the title of an axis: what a column is called, with its unit. */
export const axisTitle = (/** @type {string} */ name, /** @type {Declared} */ { label, unit } = {}) =>
  withUnit(label ?? name, unit && `(${unit})`);

/** Return a column as a choice of a form: its name, and what it is called. */
export const columnText = (/** @type {string} */ name, /** @type {Declared} */ { label, unit } = {}) =>
  `${name}${label ? `: ${label}` : ""}${unit ? ` (${unit})` : ""}`;

/** Return what the owner calls a category. */
export function categoryLabel(
  /** @type {string} */ category,
  /** @type {Declared} */ { category_labels: labels } = {},
) {
  return labels && Object.hasOwn(labels, category) ? labels[category] : category;
}

/** Return the labels of bins, with what the owner calls their categories. */
export const binLabels = (bins, declared) =>
  bins.map(({ kind, label }) => (kind === "category" ? categoryLabel(label, declared) : label));

/** Return the columns of the bins or groups of a statistic. */
export function binnedColumns({ group_by: by, column, columns }) {
  if (by !== undefined) return [by.column ?? by];
  return columns ?? [column];
}

/** Return a principal's name, after how people call it if an admin has set that. */
export const person = (name, displayName) => (displayName ? `${displayName} (${name})` : name);

/** Return a function that names a principal as `person` does, as far as a dataset's budget knows how it is called. */
export function people(budget) {
  const known = new Map((budget.allowances ?? []).map((each) => [each.principal, each.display_name]));
  return (name) => person(name, known.get(name));
}

export const epsilon = (text) => `ε ${text}`;

const NANO = 9; // an ε has at most so many decimals

/** Return an ε in whole units of 10⁻⁹. */
function unitsOf(text) {
  const [before, after = ""] = text.split(".");
  return BigInt(before + after.padEnd(NANO, "0"));
}

function textOf(units, grouped = false) {
  const digits = String(units).padStart(NANO + 1, "0");
  const before = digits.slice(0, -NANO);
  return `${grouped ? whole.format(BigInt(before)) : before}.${digits.slice(-NANO)}`.replace(/\.?0+$/, "");
}

const MAX_LEFT_PLACE = 7; // hundredths, in units of 10⁻⁹

/** Return an exact ε with three significant digits: a cost to the unit at least, what is left to hundredths. */
function roundedEpsilon(text, up) {
  const units = unitsOf(text);
  const step = 10n ** BigInt(Math.min(Math.max(String(units).length - 3, 0), up ? NANO : MAX_LEFT_PLACE));
  return textOf(((up ? units + step - 1n : units) / step) * step, true);
}

/** Return the exact sum of several ε. */
export const sumOf = (epsilons) => textOf(epsilons.reduce((total, each) => total + unitsOf(each), 0n));

/** Return an ε that is or was spent, for reading: rounded up. */
export const costText = (text) => roundedEpsilon(text, true);

/** Return an ε that is left, for reading: rounded down. */
export const leftText = (text) => roundedEpsilon(text, false);

/** Return an interval, rounded outwards. */
export const interval = ([lower, upper], told = number) => `${told(-upwards(-lower))} to ${told(upwards(upper))}`;

/** Return a time in the user's own time zone; the tooltip has the seconds. */
export function time(text, shown = new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })) {
  const element = document.createElement("time");
  element.dateTime = text;
  element.title = new Date(text).toLocaleString([], { dateStyle: "full", timeStyle: "long" });
  element.textContent = shown;
  return element;
}

const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const SECONDS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** Return how long ago a time was: "2 hours ago". */
export function ago(/** @type {string} */ text) {
  const seconds = Math.max(0, (Date.now() - Date.parse(text)) / 1000);
  const found = SECONDS.find(([, length]) => seconds >= length);
  return time(text, found ? AGO.format(-Math.floor(seconds / found[1]), found[0]) : "just now");
}

/** Return a number as a decimal for a request: three significant digits, no exponent. */
export function decimal(value) {
  const rounded = Number(value.toPrecision(3));
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  const text = rounded.toFixed(Math.min(places, 9));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Return a statistic in one line, with its groups and its filter. */
export function statistic(asked) {
  const by = asked.group_by === undefined ? "" : ` by ${groups(asked.group_by)}`;
  return `${unfiltered(asked)}${by}${asked.where ? ` where ${conditions(asked.where)}` : ""}`;
}

/** Return what a statistic is grouped by: a column, or a calendar period of one. */
const groups = (by) => (typeof by === "string" ? by : `${by.bins.replace("iso_", "")} of ${by.column}`);

/** Return a date or a time for reading. */
export const date = (text) => text.replace("T", " ");

function unfiltered(asked) {
  const pair = (bounds) => (bounds ? `[${bounds[0]}, ${bounds[1]}]` : "");
  if (asked.kind === "covariance" || asked.kind === "pair_differences") {
    const parts = asked.columns.map((name, at) => `${name} ${pair(asked.bounds?.[at])}`.trim());
    return `${asked.kind.replace("_", " ")} of ${[...new Set(parts)].join(" and ")}`;
  }
  if (asked.kind === "histogram" && asked.columns) return `table of ${asked.columns.join(" and ")}`;
  if (asked.kind === "histogram") {
    const by = asked.edges
      ? ` in ${count(asked.edges.length - 1, "interval")}`
      : typeof asked.bins === "string"
        ? ` by ${asked.bins.replace("iso_", "")} ${pair(asked.bounds)}`
        : asked.bins
          ? ` in ${count(asked.bins, "interval")} of ${pair(asked.bounds)}`
          : "";
    return `histogram of ${asked.column}${by}`;
  }
  const of = asked.column === undefined ? "" : ` of ${asked.column} ${pair(asked.bounds)}`.trimEnd();
  return `${asked.centred ? "centred " : ""}${asked.kind.replaceAll("_", " ")}${of}`;
}

/** Return a filter in words: "species in Adelie and year between 2007 and 2008". */
const conditions = (where) =>
  Object.entries(where)
    .map(([column, one]) => `${column} ${condition(one)}`)
    .join(" and ");

const ENDS = { at_least: "at least", above: "above", at_most: "at most", below: "below" };

function condition({ between, in: values, is_missing: missing, not, ...ends }) {
  if (not) return `not ${condition(not)}`;
  if (missing != null) return missing ? "is missing" : "is not missing";
  if (between) return `between ${between[0]} and ${between[1]}`;
  if (values) return `in ${values.join(", ")}`;
  return Object.keys(ENDS)
    .filter((end) => ends[end] != null)
    .map((end) => `${ENDS[end]} ${ends[end]}`)
    .join(" and ");
}
