// What can be asked of a table, and the request that a question becomes. A pure module: no elements, no requests.

import { numeric, temporal } from "../../ui/controls.js";

/**
 * A question as the form has it. Texts are what was typed; `bounds` and `bins` are by the place of the column.
 * @typedef {object} Question
 * @property {string} want a name of `WANTS`
 * @property {string[]} columns
 * @property {(string[] | null)[]} bounds
 * @property {object[]} bins `{bins, bounds}` or `{edges}`; empty for categories
 * @property {string | object | null} group
 * @property {string | null} weight
 * @property {object} where conditions by column
 * @property {boolean} exclude whether missing values are left out, where there is a choice
 * @property {string | null} category of a share; null for the rows that are true or meet the filter
 * @property {string[]} probabilities
 * @property {string} method of quantiles: "histogram", "search" or "" for the narrower one
 * @property {number} margin the place of the column whose counts are wanted
 */

const measured = (columns) => Object.keys(columns).filter((name) => columns[name].kind !== "category");
const added = (columns) => measured(columns).filter((name) => !temporal(columns[name])); // dates have no sum
const ordered = (columns) => Object.keys(columns).filter((name) => numeric(columns[name]));
const nullable = (columns) => Object.keys(columns).filter((name) => columns[name].nullable !== false);
const sorted = (columns) => Object.keys(columns).filter((name) => !numeric(columns[name]));
const every = (columns) => Object.keys(columns);

/**
 * What can be wanted: which columns it takes and how many, and which further parts of the sentence it has. `bounds`
 * are of each column, `bins` too; `spread` is missing where a filter makes it a statistic of the known values.
 */
export const WANTS = [
  {
    want: "mean",
    text: "the mean",
    kind: "Numbers",
    of: measured,
    columns: 1,
    parts: ["bounds", "group", "weight", "where"],
  },
  { want: "sum", text: "the total", kind: "Numbers", of: added, columns: 1, parts: ["bounds", "group", "where"] },
  { want: "count", text: "how many rows", kind: "Numbers", of: every, columns: 0, parts: ["group", "where"] },
  {
    want: "proportion",
    text: "the share",
    kind: "Numbers",
    of: sorted,
    columns: 1,
    optional: true,
    parts: ["group", "where"],
  },
  { want: "missing", text: "how many have no value", kind: "Numbers", of: nullable, columns: 1, parts: ["where"] },
  {
    want: "histogram",
    text: "how it is distributed",
    kind: "Distributions",
    of: every,
    columns: 1,
    parts: ["bins", "where"],
  },
  {
    want: "quantile",
    text: "the median and quantiles",
    kind: "Distributions",
    of: ordered,
    columns: 1,
    parts: ["bins", "where"],
  },
  {
    want: "cumulative",
    text: "how many are below each value",
    kind: "Distributions",
    of: ordered,
    columns: 1,
    parts: ["bins", "where"],
  },
  {
    want: "standard_deviation",
    text: "the standard deviation",
    kind: "Distributions",
    of: measured,
    columns: 1,
    parts: ["bounds", "where"],
  },
  {
    want: "variance",
    text: "the variance",
    kind: "Distributions",
    of: measured,
    columns: 1,
    parts: ["bounds", "where"],
  },
  {
    want: "correlation",
    text: "the correlation",
    kind: "Two columns",
    of: measured,
    columns: 2,
    parts: ["bounds", "where"],
  },
  {
    want: "regression",
    text: "the regression line",
    kind: "Two columns",
    of: measured,
    columns: 2,
    parts: ["bounds", "where"],
  },
  { want: "table", text: "the table", kind: "Two columns", of: every, columns: 2, parts: ["bins", "where"] },
  {
    want: "margin",
    text: "one column's counts in the table",
    kind: "Two columns",
    of: every,
    columns: 2,
    parts: ["bins", "where"],
  },
  {
    want: "covariance",
    text: "the covariance",
    kind: "Two columns",
    of: measured,
    columns: 2,
    parts: ["bounds", "where"],
  },
];

/** Return the entry of `WANTS` with a name, which it has. @returns {any} */
export const wantOf = (name) => WANTS.find(({ want }) => want === name);

/** Return what can be wanted of a table with these columns. */
export const possibleWants = (columns) =>
  WANTS.filter(({ of, columns: taken, optional }) => optional || of(columns).length >= taken);

const filled = (where) => Object.keys(where).length > 0;
const given = (members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value != null));
const COMPUTED = ["mean", "sum", "variance", "standard_deviation", "covariance", "correlation", "regression"];

/** Return whether somebody may choose what missing values count as: left out, or as the owner declared. */
export function missingChoice({ want, columns: names, weight, where }, columns) {
  if (!COMPUTED.includes(want)) return false;
  const used = [...names, ...(weight === null ? [] : [weight])];
  if (!used.some((name) => columns[name].nullable !== false)) return false;
  return ["mean", "sum"].includes(want) || !filled(where); // a filter leaves only statistics of the known values
}

/** Return whether only rows with a value count, chosen or because there is no other such statistic. */
export function leavesOut(question, columns) {
  if (missingChoice(question, columns)) return question.exclude;
  return COMPUTED.includes(question.want) && !["mean", "sum"].includes(question.want) && filled(question.where);
}

/** Return `edges`, `bins` and `bounds` of two columns as lists; omit a list if neither column has a value. */
function paired(both) {
  const list = (member) => both.map((one) => one[member] ?? null);
  return Object.fromEntries(
    ["edges", "bins", "bounds"]
      .map((member) => [member, list(member)])
      .filter(([, items]) => items.some((item) => item !== null)),
  );
}

function share({ columns: [column], category, group, where }) {
  if (column === undefined) return { kind: "proportion", ...where };
  const grouped = group === null ? {} : { group_by: group, ...where };
  if (category !== null) return { kind: "proportion", column, category, ...grouped };
  // Among some rows only, the share of those that are true is the mean of what is true.
  return { kind: group === null && where.where ? "mean" : "proportion", column, ...where, ...grouped };
}

/** Return whether a filter says which rows a share is of; a share of one category of all rows has none. */
export const takesFilter = (/** @type {any} */ { want, columns: [column], category, group }) =>
  want !== "proportion" || column === undefined || category === null || group !== null;

/** Return the statistic of a question: `{to, statistic}`, where `to` is `releases` or `derived`. */
export function statisticOf(question, columns) {
  const { want: kind, columns: names, bounds, bins, group, weight, probabilities, method, margin } = question;
  const [column] = names;
  const where = filled(question.where) && takesFilter(question) ? { where: question.where } : {};
  const group_by = group ?? undefined;
  const out = leavesOut(question, columns) ? { missing: "exclude" } : {};
  const one = { kind, column, ...given({ bounds: bounds[0] }) };
  const two = { kind, columns: names, ...(bounds.some((each) => each !== null) && { bounds }) };
  const release = (statistic) => ({ to: "releases", statistic: given(statistic) });
  const derived = (statistic) => ({ to: "derived", statistic: given(statistic) });
  switch (kind) {
    case "mean": {
      const asked = { ...one, ...where, group_by, weight, ...out };
      return out.missing || where.where || group !== null || weight !== null ? derived(asked) : release(one);
    }
    case "sum":
      return out.missing || where.where || group !== null
        ? derived({ ...one, ...where, group_by, ...out })
        : release(one);
    case "count":
      return release({ kind, group_by, ...where });
    case "missing":
      return where.where
        ? release({ kind: "count", where: { ...where.where, [column]: { is_missing: true } } })
        : release({ kind, column });
    case "proportion":
      return derived(share({ ...question, where }));
    case "variance":
      return out.missing ? derived({ ...one, ...where, ...out }) : release(one);
    case "covariance":
      return out.missing ? derived({ ...two, ...where, ...out }) : release(two);
    case "standard_deviation":
      return derived({ ...one, ...where, ...out });
    case "correlation":
    case "regression":
      return derived({ ...two, ...where, ...out });
    case "histogram":
      return release({ kind, column, ...bins[0], ...where });
    case "table":
      return release({ kind: "histogram", columns: names, ...paired(bins), ...where });
    case "cumulative":
      return derived({ kind, column, ...bins[0], ...where });
    case "quantile":
      return derived({ kind, column, ...bins[0], ...where, probabilities, method: method || undefined });
    case "margin":
      return derived({ kind, column: names[margin], columns: names, ...paired(bins), ...where });
    default:
      throw new Error(`${kind} cannot be asked`);
  }
}

/**
 * Return the guesses that plan the width of an interval: `{needed, optional, compared}`, where `compared` is the one
 * that a relative accuracy is a part of, or null. A release takes one guess, of its statistic.
 */
export function guessesOf({ to, statistic }, columns) {
  const { kind, where, group_by: group, weight, missing, column } = statistic;
  if (to === "releases") return { needed: [], optional: ["guess"], compared: "guess" };
  const used = [...(statistic.columns ?? [column]), ...(weight ? [weight] : [])];
  const known = missing !== undefined && used.some((name) => columns[name]?.nullable !== false);
  const counted = where ? ["count"] : [];
  const deviations = ["standard_deviation_x", "standard_deviation_y"];
  switch (kind) {
    case "mean": {
      if (weight)
        return {
          needed: ["mean", "weight", ...(where || group || known ? ["count"] : [])],
          optional: [],
          compared: "mean",
        };
      return where || group
        ? { needed: ["mean", "count"], optional: [], compared: "mean" }
        : { needed: ["mean"], optional: [], compared: "mean" };
    }
    case "proportion":
      return group
        ? { needed: ["proportion", "count"], optional: [], compared: "proportion" }
        : { needed: [], optional: ["proportion"], compared: "proportion" };
    case "standard_deviation":
      return known || where
        ? { needed: ["standard_deviation", ...counted], optional: [], compared: "standard_deviation" }
        : { needed: [], optional: ["standard_deviation"], compared: "standard_deviation" };
    case "variance":
      return { needed: ["standard_deviation", ...counted], optional: [], compared: null };
    case "covariance":
      return { needed: ["correlation", ...deviations, ...counted], optional: [], compared: null };
    case "correlation":
      return { needed: ["correlation", ...deviations, ...counted], optional: [], compared: "correlation" };
    case "regression":
      return {
        needed: ["slope", "standard_deviation_x", "mean_x", "mean_y", ...counted],
        optional: [],
        compared: "slope",
      };
    case "quantile":
      return { needed: ["mean", "standard_deviation"], optional: [], compared: null };
    default:
      return { needed: [], optional: [], compared: null };
  }
}

/** Return a typed percentage as the decimal that the API takes; both are texts, so nothing is rounded. */
export function fromPercent(text) {
  const found = /^\s*(\d*)(?:\.(\d*))?\s*$/.exec(text);
  if (!found || !/\d/.test(text)) return text.trim();
  const [, whole = "", part = ""] = found;
  const digits = whole.padStart(3, "0") + part;
  const at = Math.max(whole.length, 3) - 2;
  const decimal = `${digits.slice(0, at)}.${digits.slice(at)}`.replace(/^0+(?=\d)/, "");
  return decimal.replace(/0+$/, "").replace(/\.$/, "");
}

/** Return α for a confidence in percent; both are texts. */
export function alphaOf(confidence) {
  const found = /^\s*(\d{1,2})(?:\.(\d*))?\s*$/.exec(confidence);
  if (!found) return confidence.trim();
  const places = (found[2] ?? "").length;
  const left = 10n ** BigInt(places + 2) - BigInt(found[1] + (found[2] ?? ""));
  return fromPercent(
    places === 0 ? String(left) : `${left}`.padStart(places + 1, "0").replace(new RegExp(`(\\d{${places}})$`), ".$1"),
  );
}

/**
 * Return the request of a question: `{to, body, names}`, where `names` are the guesses that it takes. `precision` is
 * `{by, value}`, in percent if it is relative or of a share;
 * `guessed` has what was typed or supposed, by name; `options` has α, γ, the grid and reuse.
 */
export function requestOf(question, columns, { precision, guessed, options }) {
  const found = statisticOf(question, columns);
  const { to, statistic } = found;
  const names = guessesOf(found, columns);
  const own = Object.fromEntries(
    [...names.needed, ...names.optional].filter((name) => guessed[name]).map((name) => [name, guessed[name]]),
  );
  const percent =
    precision.by === "relative_accuracy" || (precision.by === "accuracy" && statistic.kind === "proportion");
  const wanted = { [precision.by]: percent ? fromPercent(precision.value) : precision.value.trim() };
  if (to === "derived") return { to, names, body: { derived: statistic, ...wanted, guesses: own, ...options } };
  const guess = precision.by === "relative_accuracy" && own.guess ? { guess: own.guess } : {};
  return { to, names, body: { statistic, ...wanted, ...guess, ...options } };
}
