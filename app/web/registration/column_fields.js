// The fields of one column, by its kind: bounds or categories, unit, label, and what a missing value counts as.

import { temporal, typed, valueInput } from "../ui/controls.js";
import { field, h, help, newId, select, setError, validate } from "../ui/dom.js";
import { RESOLUTIONS, categoriesOf, checkBound, checkCategories, checkNumber, checkOrder } from "./declaration.js";

/**
 * @typedef {import("./declaration.js").Declared} Declared
 * @typedef {{ element: HTMLElement | null, check: () => boolean }} Fields
 */

const LINES_SHOWN = 8;
const ZONES = /** @type {string[]} */ (Intl.supportedValuesOf?.("timeZone") ?? []);

const text = (/** @type {Record<string, any>} */ properties) => h("input", { type: "text", autocomplete: "off", ...properties });

/** Set or remove a member. */
function assign(/** @type {Declared} */ declared, /** @type {string} */ member, /** @type {any} */ value) {
  if (value === "" || value == null) delete declared[member];
  else declared[member] = value;
}

/**
 * Return the fields of the bounds of numbers or dates. They are checked when the pair was left.
 * @param {Declared} declared
 * @param {() => void} changed
 * @returns {Fields}
 */
function boundsFields(declared, changed) {
  const inputs = /** @type {HTMLInputElement[]} */ ((declared.bounds ?? ["", ""]).map((/** @type {any} */ bound) => valueInput(declared, String(bound))));
  const [lower, upper] = inputs;
  const read = () => { declared.bounds = inputs.map(({ value }) => value.trim()); changed(); };
  inputs.forEach((input) => input.addEventListener("input", read));
  const tests = inputs.map((input) => validate(input, (value) => checkBound(declared, value)));
  const ordered = () => {
    if (inputs.some(({ value }) => checkBound(declared, value) !== null)) return false;
    const message = checkOrder(declared, lower.value, upper.value);
    setError(upper, message);
    return message === null;
  };
  inputs.forEach((input) => input.addEventListener("blur", ordered));
  const element = h("fieldset", {}, h("legend", {}, "Bounds ", help("bounds")),
    h("div", { class: temporal(declared) ? "columns" : "pair" }, field("Lower", lower), field("Upper", upper)),
    h("small", {}, "Values outside count as the nearer bound. Too narrow changes the answers; too wide costs accuracy."));
  return { element, check: () => tests.map((test) => test()).every(Boolean) && ordered() };
}

/**
 * @param {Declared} declared
 * @param {() => void} changed
 * @returns {Fields}
 */
function categoryFields(declared, changed) {
  const input = h("textarea", { "rows": Math.max(3, Math.min(LINES_SHOWN, declared.categories.length + 1)), spellcheck: "false", autocapitalize: "off",
    value: declared.categories.join("\n"), input: () => { declared.categories = categoriesOf(input.value); changed(); } });
  return { element: field("Categories, one a line", input, "All other texts are counted together, as “other”."),
    check: validate(input, checkCategories) };
}

/**
 * @param {Declared} declared
 * @param {() => void} changed
 * @returns {Fields}
 */
function timeFields(declared, changed) {
  const list = h("datalist", { id: newId("zones") }, ZONES.map((zone) => h("option", { value: zone })));
  const zone = text({ value: declared.time_zone, list: list.id, spellcheck: "false",
    input: () => { declared.time_zone = zone.value.trim(); changed(); } });
  const resolution = select(RESOLUTIONS, declared.resolution, { change: () => { declared.resolution = resolution.value; } });
  const check = validate(zone, (value) => (ZONES.length === 0 || ZONES.includes(value.trim()) || value.trim() === "UTC" ? null
    : "Enter the name of a time zone, such as Europe/Paris or UTC."));
  return { element: h("div", { class: "pair" }, field("Time zone", zone, "Whose clocks count, such as Europe/Paris."),
    field("Counted in", resolution), list), check };
}

/** @returns {Fields} */
function scaleField(/** @type {Declared} */ declared) {
  const input = text({ value: String(declared.scale), inputmode: "numeric", input: () => { declared.scale = input.value.trim(); } });
  return { element: field("Decimals", input, "How many digits are after the point."),
    check: validate(input, (value) => (/^(\d|1[0-8])$/.test(value.trim()) ? null : "Enter a whole number from 0 to 18.")) };
}

/** Return the fields of the texts that a text file has for yes and no. @returns {Fields} */
function spellingFields(/** @type {Declared} */ declared) {
  const members = ["true_values", "false_values"];
  const inputs = members.map((member) => text({ value: (declared[member] ?? []).join(", "), spellcheck: "false", autocapitalize: "off",
    input: () => members.forEach((each, at) => {
      const texts = typed(inputs[at]);
      if (texts.length > 0) declared[each] = texts; else delete declared[each];
    }) }));
  const one = () => inputs.filter((input) => typed(input).length === 0).length === 1;
  const check = validate(inputs[1], () => (one() ? "Enter the texts of both, or of neither." : null));
  return { element: h("div", { class: "pair" }, field("Texts that mean yes (optional)", inputs[0], "Of a text file, such as yes, y. Else: true, 1."),
    field("Texts that mean no (optional)", inputs[1], "Such as no, n. Else: false, 0.")), check };
}

/** Return the fields of the values of a column. @returns {Fields[]} */
export function valueFields(/** @type {Declared} */ declared, /** @type {() => void} */ changed) {
  if (declared.kind === "boolean") return [spellingFields(declared)];
  if (declared.kind === "category") return [categoryFields(declared, changed)];
  return [boundsFields(declared, changed), declared.kind === "decimal" && scaleField(declared),
    declared.kind === "timestamp" && timeFields(declared, changed)].filter((each) => each !== false);
}

/** Return the fields of what people read: what the column is called, its unit and what it says. @returns {Fields} */
export function textFields(/** @type {Declared} */ declared) {
  const made = (/** @type {string} */ member, /** @type {number} */ most) => {
    const input = text({ value: declared[member] ?? "", maxlength: most, input: () => assign(declared, member, input.value.trim()) });
    return input;
  };
  const hasUnit = ["integer", "real", "decimal"].includes(declared.kind);
  return { element: h("div", {}, h("div", { class: "pair" }, field("Label (optional)", made("label", 255), "How people call it."),
    hasUnit && field("Unit (optional)", made("unit", 32), "Such as € or mm.")),
  field("Description (optional)", made("description", 2000), "What was asked or measured, and how.")), check: () => true };
}

const MISSING = /** @type {Record<string, string>} */ ({
  boolean: "A missing value counts as no in sums and means, unless an analyst leaves it out.",
  category: "Missing values are counted in a group of their own.",
});

/** Return the fields of the rule for missing values. @returns {Fields} */
export function missingFields(/** @type {Declared} */ declared) {
  const nullable = h("input", { type: "checkbox", checked: declared.nullable !== false && declared.nullable !== "false",
    change: () => { if (nullable.checked) delete declared.nullable; else declared.nullable = false; show(); } });
  const value = valueInput(declared, declared.null_value === undefined ? "" : String(declared.null_value));
  value.addEventListener("input", () => assign(declared, "null_value", value.value.trim()));
  const counted = field("A missing value counts as (optional)", value,
    "By default the middle of the bounds. Analysts can leave missing values out instead.");
  const isCounted = declared.kind !== "boolean" && declared.kind !== "category";
  const note = h("p", { class: "muted" }, MISSING[declared.kind]);
  function show() {
    counted.hidden = !nullable.checked || !isCounted;
    note.hidden = !nullable.checked || isCounted;
  }
  show();
  const check = validate(value, (entered) => (entered.trim() === "" || value.type !== "text" ? null : checkNumber(entered)));
  return { element: h("div", {}, field("Some rows may have no value", nullable,
    "If you untick it, a table with a missing value here is refused."), counted, note), check: () => counted.hidden || check() };
}
