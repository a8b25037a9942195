// Formats numbers, times and names. An ε stays a decimal string; `Number(ε)` is only for drawing.

const significant = new Intl.NumberFormat("en", { maximumSignificantDigits: 6, useGrouping: true });
const whole = new Intl.NumberFormat("en");

export function number(value) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(4);
  return Number.isInteger(value) ? whole.format(value) : significant.format(value);
}

/** Return a number without thousands separators, since it may be a year. */
export const ungrouped = (value) => number(value).replaceAll(",", "");

/** Return a count with its noun: "1 row", "344 rows". */
export const count = (n, noun) => `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;

export const epsilon = (text) => `ε ${text}`;

export const interval = ([lower, upper], told = number) => `${told(lower)} to ${told(upper)}`;

/** Return a time in the user's own time zone. */
export function time(text) {
  const element = document.createElement("time");
  element.dateTime = text;
  element.textContent = new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
  return element;
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
  const by = asked.group_by === undefined ? "" : ` by ${asked.group_by}`;
  return `${unfiltered(asked)}${by}${asked.where ? ` where ${conditions(asked.where)}` : ""}`;
}

function unfiltered(asked) {
  const pair = (bounds) => (bounds ? `[${bounds[0]}, ${bounds[1]}]` : "");
  if (asked.kind === "covariance") {
    const parts = asked.columns.map((name, at) => `${name} ${pair(asked.bounds?.[at])}`.trim());
    return `covariance of ${parts.join(" and ")}`;
  }
  if (asked.kind === "histogram" && asked.columns) return `table of ${asked.columns.join(" and ")}`;
  if (asked.kind === "histogram") {
    const by = asked.edges ? ` in ${count(asked.edges.length - 1, "interval")}`
      : asked.bins ? ` in ${count(asked.bins, "interval")} of ${pair(asked.bounds)}` : "";
    return `histogram of ${asked.column}${by}`;
  }
  const of = asked.column === undefined ? "" : ` of ${asked.column} ${pair(asked.bounds)}`.trimEnd();
  return `${asked.kind}${of}`;
}

/** Return a filter in words: "species in Adelie and year between 2007 and 2008". */
function conditions(where) {
  const one = ([column, { between, in: values }]) =>
    (between ? `${column} between ${between[0]} and ${between[1]}` : `${column} in ${values.join(", ")}`);
  return Object.entries(where).map(one).join(" and ");
}

/** Return a name for a plotly label. Plotly reads labels as HTML, so characters of markup become entities. */
export function plain(text, most = 40) {
  const cut = [...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text;
  return cut.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\n", " ");
}
