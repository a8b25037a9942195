// Fields of forms: a control with its label, its hint and its error.

import { fill, h, newId } from "./element.js";

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

/** Name what describes a control, beside what describes it already. */
function describe(/** @type {Element} */ control, /** @type {string} */ id, present = true) {
  const others = (control.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .filter((each) => each !== "" && each !== id);
  const all = present ? [...others, id] : others;
  if (all.length > 0) control.setAttribute("aria-describedby", all.join(" "));
  else control.removeAttribute("aria-describedby");
}

/**
 * Return a control with its label and a hint.
 * @param {import("./element.js").Content} label
 * @param {HTMLElement} control
 * @param {import("./element.js").Content} [hint]
 */
export function field(label, control, hint) {
  control.id ||= newId("field");
  const described = hint && h("small", { id: `${control.id}-hint` }, hint);
  if (described) describe(control, described.id);
  return h(
    "div",
    { class: /** @type {any} */ (control).type === "checkbox" ? "field check" : "field" },
    h("label", { for: control.id }, label),
    control,
    described,
  );
}

/**
 * Show an error below a control that `field` has made, or remove it if `message` is null.
 * @param {HTMLElement} control
 * @param {string | null} message
 */
export function setError(control, message) {
  const id = `${control.id}-error`;
  const place = control.closest(".field") ?? control.parentElement;
  const shown = document.getElementById(id) ?? place?.querySelector(`#${CSS.escape(id)}`);
  describe(control, id, message !== null);
  if (message === null) {
    shown?.remove();
    control.removeAttribute("aria-invalid");
    return;
  }
  control.setAttribute("aria-invalid", "true");
  if (shown) fill(shown, message);
  else place?.append(h("p", { id, class: "field-error", role: "alert" }, message));
}

/**
 * Check a control after it was left: `check` returns an error in words, or null. A shown error goes as soon as it is
 * mended. Returns a function that checks at once and returns whether it is right, such as before a form is sent.
 * @param {Control} control
 * @param {(value: string) => string | null} check
 */
export function validate(control, check) {
  const test = () => {
    const message = check(control.value);
    setError(control, message);
    return message === null;
  };
  control.addEventListener("blur", () => {
    if (control.value !== "") test();
  });
  control.addEventListener("input", () => {
    if (control.getAttribute("aria-invalid") === "true") test();
  });
  return test;
}

/**
 * Return a choice of `options`, each `[value, text]`.
 * @param {string[][]} options
 * @param {string} [chosen]
 * @param {import("./element.js").Properties} [properties]
 */
export function select(options, chosen, properties = {}) {
  const made = options.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  return h("select", properties, made);
}
