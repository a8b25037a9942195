// The fields of the values of one column, by its kind: bounds, categories, times, and texts for true and false.

import { temporal, typed, valueInput } from "../ui/controls.js";
import { field, h, help, newId, select, setError, validate } from "../ui/dom.js";
import { categoriesOf, checkBound, checkCategories, checkOrder, RESOLUTIONS } from "./declaration.js";

/**
 * @typedef {import("./declaration.js").Declared} Declared
 * @typedef {{ element: HTMLElement | null, check: () => boolean }} Fields
 */

const LINES_SHOWN = 8;
const ZONES = /** @type {string[]} */ (Intl.supportedValuesOf?.("timeZone") ?? []);

const text = (/** @type {Record<string, any>} */ properties) =>
  h("input", { type: "text", autocomplete: "off", ...properties });

/**
 * Return the fields of the bounds of numbers or dates. They are checked when the pair was left.
 * @param {Declared} declared
 * @param {() => void} changed
 * @returns {Fields}
 */
function boundsFields(declared, changed) {
  const inputs = /** @type {HTMLInputElement[]} */ (
    (declared.bounds ?? ["", ""]).map((/** @type {any} */ bound) => valueInput(declared, String(bound)))
  );
  const [lower, upper] = inputs;
  const read = () => {
    declared.bounds = inputs.map(({ value }) => value.trim());
    changed();
  };
  for (const input of inputs) input.addEventListener("input", read);
  const tests = inputs.map((input) => validate(input, (value) => checkBound(declared, value)));
  const ordered = () => {
    if (inputs.some(({ value }) => checkBound(declared, value) !== null)) return false;
    const message = checkOrder(declared, lower.value, upper.value);
    setError(upper, message);
    return message === null;
  };
  for (const input of inputs) input.addEventListener("blur", ordered);
  const element = h(
    "fieldset",
    {},
    h("legend", {}, "Bounds ", help("bounds")),
    h("div", { class: temporal(declared) ? "columns" : "pair" }, field("Lower", lower), field("Upper", upper)),
    h(
      "small",
      {},
      "Values outside count as the nearer bound. Too narrow changes the answers; too wide costs accuracy.",
    ),
  );
  return { element, check: () => tests.map((test) => test()).every(Boolean) && ordered() };
}

/**
 * @param {Declared} declared
 * @param {() => void} changed
 * @returns {Fields}
 */
function categoryFields(declared, changed) {
  const input = h("textarea", {
    rows: Math.max(3, Math.min(LINES_SHOWN, declared.categories.length + 1)),
    spellcheck: "false",
    autocapitalize: "off",
    value: declared.categories.join("\n"),
    input: () => {
      declared.categories = categoriesOf(input.value);
      changed();
    },
  });
  return {
    element: field("Categories, one a line", input, "All other texts are counted together, as “other”."),
    check: validate(input, checkCategories),
  };
}

/**
 * @param {Declared} declared
 * @param {() => void} changed
 * @returns {Fields}
 */
function timeFields(declared, changed) {
  const list = h(
    "datalist",
    { id: newId("zones") },
    ZONES.map((zone) => h("option", { value: zone })),
  );
  const zone = text({
    value: declared.time_zone,
    list: list.id,
    spellcheck: "false",
    input: () => {
      declared.time_zone = zone.value.trim();
      changed();
    },
  });
  const resolution = select(RESOLUTIONS, declared.resolution, {
    change: () => {
      declared.resolution = resolution.value;
    },
  });
  const check = validate(zone, (value) =>
    ZONES.length === 0 || ZONES.includes(value.trim()) || value.trim() === "UTC"
      ? null
      : "Enter the name of a time zone, such as Europe/Paris or UTC.",
  );
  return {
    element: h(
      "div",
      { class: "pair" },
      field("Time zone", zone, "Whose clocks count, such as Europe/Paris."),
      field("Counted in", resolution),
      list,
    ),
    check,
  };
}

/** @returns {Fields} */
function scaleField(/** @type {Declared} */ declared) {
  const input = text({
    value: String(declared.scale),
    inputmode: "numeric",
    input: () => {
      declared.scale = input.value.trim();
    },
  });
  return {
    element: field("Decimals", input, "How many digits are after the point."),
    check: validate(input, (value) =>
      /^(\d|1[0-8])$/.test(value.trim()) ? null : "Enter a whole number from 0 to 18.",
    ),
  };
}

/** Return the fields of the texts that a text file has for true and false. @returns {Fields} */
function spellingFields(/** @type {Declared} */ declared) {
  const members = ["true_values", "false_values"];
  const inputs = members.map((member) =>
    text({
      value: (declared[member] ?? []).join(", "),
      spellcheck: "false",
      autocapitalize: "off",
      input: () =>
        members.forEach((each, at) => {
          const texts = typed(inputs[at]);
          if (texts.length > 0) declared[each] = texts;
          else delete declared[each];
        }),
    }),
  );
  const one = () => inputs.filter((input) => typed(input).length === 0).length === 1;
  const check = validate(inputs[1], () => (one() ? "Enter the texts of both, or of neither." : null));
  return {
    element: h(
      "div",
      { class: "pair" },
      field("Texts that mean true (optional)", inputs[0], "Of a text file, such as yes, y. Else: true, 1."),
      field("Texts that mean false (optional)", inputs[1], "Such as no, n. Else: false, 0."),
    ),
    check,
  };
}

/** Return the fields of the values of a column. @returns {Fields[]} */
export function valueFields(/** @type {Declared} */ declared, /** @type {() => void} */ changed) {
  if (declared.kind === "boolean") return [spellingFields(declared)];
  if (declared.kind === "category") return [categoryFields(declared, changed)];
  return [
    boundsFields(declared, changed),
    declared.kind === "decimal" && scaleField(declared),
    declared.kind === "timestamp" && timeFields(declared, changed),
  ].filter((each) => each !== false);
}
