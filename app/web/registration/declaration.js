// What an owner declares of a table, as the metadata of a registration, and what is wrong with it in words.

/**
 * @typedef {Record<string, any> & { kind: string, unconfirmed?: string[] }} Declared one column
 * @typedef {Record<string, any> & { columns: Record<string, Declared> }} Metadata
 * @typedef {{ column: string, reason: string }} LeftOut
 */

/** @type {[string, string][]} */
export const RESOLUTIONS = [
  ["day", "days"],
  ["hour", "hours"],
  ["minute", "minutes"],
  ["second", "seconds"],
];

const DRAFTED = /** @type {Record<string, string[]>} */ ({
  category: ["categories"],
  boolean: [],
  timestamp: ["bounds", "time_zone"],
});
const OF_EVERY_KIND = ["label", "description", "nullable"];
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const MAX_TEXT = 255;
const MAX_CATEGORIES = 10_000;
const MAX_ROWS_PER_UNIT = 1_000_000;

/** @returns {Metadata} */
export const emptyMetadata = () => ({ name: "", description: "", epsilon_limit: "1", rows_per_unit: 1, columns: {} });

/** Return what is not confirmed yet of a column of a kind whose values nobody knows. */
export const draftedOf = (/** @type {string} */ kind) => DRAFTED[kind] ?? ["bounds"];

/** Return whether a column's values are numbers or dates. */
export const isBounded = (/** @type {Declared} */ { kind }) => kind !== "category" && kind !== "boolean";

/** Return whether all that a column declares was confirmed. */
export const isConfirmed = (/** @type {Declared} */ { unconfirmed = [] }) => unconfirmed.length === 0;

/** Return a column of another kind, of which nothing is known but what every kind has. @returns {Declared} */
export function ofKind(/** @type {Declared} */ declared, /** @type {string} */ kind) {
  const kept = Object.fromEntries(
    OF_EVERY_KIND.filter((member) => member in declared).map((member) => [member, declared[member]]),
  );
  const isNumber = ["integer", "real", "decimal"].includes(kind);
  const wasNumber = ["integer", "real", "decimal"].includes(declared.kind);
  return {
    ...kept,
    kind,
    ...(isNumber && wasNumber
      ? { bounds: declared.bounds, ...(declared.unit && { unit: declared.unit }) }
      : isBounded({ kind }) && { bounds: ["", ""] }),
    ...(kind === "category" && { categories: [] }),
    ...(kind === "decimal" && { scale: 2 }),
    ...(kind === "timestamp" && { time_zone: "UTC", resolution: "minute" }),
    unconfirmed: draftedOf(kind),
  };
}

/**
 * Return a draft with what the owner has declared already: of the dataset, and of each confirmed column that the table
 * has. The name is the draft's again unless the owner wrote another one.
 * @param {Metadata} drafted
 * @param {Metadata | null} before
 * @param {string[]} leftOut columns that the owner has left out
 * @param {{ name?: string, known?: string[] }} [draft] the name of the draft before, and all columns of the table
 * @returns {Metadata}
 */
export function carryOver(drafted, before, leftOut, { name, known = Object.keys(drafted.columns) } = {}) {
  if (before === null) return drafted;
  const { columns, null_values: _nulls, format: _format, delimiter: _delimiter, source: _source, ...rest } = before;
  const decided = Object.fromEntries(
    Object.entries(columns).filter(([column, declared]) => isConfirmed(declared) && known.includes(column)),
  );
  if (rest.name === name) rest.name = drafted.name;
  const found = Object.entries(drafted.columns).filter(([name]) => !leftOut.includes(name));
  return { ...drafted, ...rest, columns: { ...Object.fromEntries(found), ...decided } };
}

/** Return an error about a number as it was typed. */
export const checkNumber = (/** @type {string} */ text) =>
  DECIMAL.test(text.trim()) ? null : "Enter a number, with a point before the decimals.";

/** Return an error about a column's bound. */
export function checkBound(/** @type {Declared} */ { kind }, /** @type {string} */ text) {
  if (text.trim() === "") return "Enter a bound: what is the least or the most that a value can be?";
  return kind === "date" || kind === "timestamp" ? null : checkNumber(text);
}

/** Return an error about two bounds that are each right. */
export function checkOrder(/** @type {Declared} */ { kind }, /** @type {string} */ lower, /** @type {string} */ upper) {
  const ordered = kind === "date" || kind === "timestamp" ? lower < upper : Number(lower) < Number(upper);
  return ordered ? null : "The upper bound must be above the lower one.";
}

/** Return the categories that were typed, one a line. */
export const categoriesOf = (/** @type {string} */ text) => text.split("\n").filter((line) => line.trim() !== "");

/** Return an error about categories as they were typed. */
export function checkCategories(/** @type {string} */ text) {
  const categories = categoriesOf(text);
  const seen = new Set();
  const twice = categories.find((each) => seen.has(each) || !seen.add(each));
  if (categories.length === 0) return "Enter the categories that may occur, one a line.";
  if (twice !== undefined) return `“${twice}” is there more than once.`;
  if (categories.length > MAX_CATEGORIES) return `Enter at most ${MAX_CATEGORIES.toLocaleString("en")} categories.`;
  return categories.some((each) => each.length > MAX_TEXT) ? `A category has at most ${MAX_TEXT} characters.` : null;
}

/** Return an error about a dataset's name. */
export const checkName = (/** @type {string} */ text) =>
  NAME.test(text) ? null : "Use small letters, digits, - and _, at most 63; begin with a letter or a digit.";

/** Return an error about a limit. */
export function checkLimit(/** @type {string} */ text) {
  if (checkNumber(text) !== null || Number(text) < 0) return "Enter a number, such as 1 or 2.5.";
  return Number(text) === 0 ? "With 0, nothing could ever be released." : null;
}

/** Return an error about the rows of one unit. */
export const checkRows = (/** @type {string} */ text) =>
  /^[0-9]+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= MAX_ROWS_PER_UNIT
    ? null
    : "Enter a whole number, at least 1.";

/** Return metadata from JSON, in which each number stays the decimal that was written. */
export function parseMetadata(/** @type {string} */ text) {
  const exactly = (
    /** @type {string} */ key,
    /** @type {any} */ value,
    /** @type {{ source?: string } | undefined} */ context,
  ) => (typeof value === "number" && key !== "sheet" ? (context?.source ?? String(value)) : value);
  const read = JSON.parse(text, /** @type {any} */ (exactly));
  if (read === null || typeof read !== "object" || Array.isArray(read))
    throw new SyntaxError("the whole must be an object: { … }");
  return /** @type {Metadata} */ ({ ...read, columns: read.columns ?? {} });
}

/**
 * Return a problem with the names of columns in place of their positions, and those names.
 * @param {any} error
 * @param {string[]} names
 */
export function nameColumns(error, names) {
  const at = /^columns\.(\d+)(?:\.(.*))?$/;
  const errors = (error.errors ?? []).map((/** @type {any} */ { where, what }) => {
    const found = at.exec(where);
    const column = found
      ? names[Number(found[1])]
      : names.find((name) => where === `column ${name}` || where.endsWith(`, column ${name}`));
    const place = found && column ? [`column ${column}`, found[2]].filter(Boolean).join(": ") : where;
    return { where: place, what: what.replace(/ \(column [\d,]+ of [\d,]+\)$/, ""), column };
  });
  return Object.assign(Object.create(error), { title: error.title, message: error.message, errors });
}
