// The controls of the forms. A number is sent as the decimal that was typed, never as a double.

import { h } from "./dom.js";

export const temporal = ({ kind }) => ["date", "timestamp"].includes(kind);

/** Return whether a column's values are numbers or dates, which have bounds and an order. */
export const numeric = ({ kind }) => ["integer", "real", "decimal", "date", "timestamp"].includes(kind);

export const PERIODS = ["day", "iso_week", "month", "quarter", "year"];

export const text = (properties) =>
  h("input", { type: "text", inputmode: "decimal", autocomplete: "off", ...properties });

/** Return a field for a value of a numeric column: a date, a time or a number. */
export function valueInput({ kind }, value = "") {
  if (kind === "date") return h("input", { type: "date", value });
  if (kind === "timestamp") return h("input", { type: "datetime-local", step: "1", value });
  return text({ value: String(value) });
}

/** Return the comma-separated values that were typed. */
export const typed = ({ value }) =>
  value
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
