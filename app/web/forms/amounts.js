// Fields for an ε and for a reason, and what is wrong with them in words.

import { field, h, help, setError } from "../ui/dom.js";

export const MAX_REASON = 1000;

/** Return a field for a decimal number; `label` names it, with the meaning of ε beside it. */
export function epsilonField(/** @type {string} */ label, /** @type {string} */ value, /** @type {string} */ hint) {
  const input = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", value });
  const element = field(label, input, hint);
  element.querySelector("label")?.after(" ", help("cost"));
  return { element, input };
}

/** Return a field for a text that people read and that is recorded. */
export function reasonField(/** @type {string} */ label, /** @type {string} */ hint) {
  const input = h("textarea", { class: "prose", rows: 3, maxlength: MAX_REASON });
  return { element: field(label, input, hint), input };
}

/** Return whether a field has a number that is not below `least`; otherwise say so at the field. */
export function checkEpsilon(/** @type {HTMLInputElement} */ input, least = 0) {
  const value = Number(input.value.trim() === "" ? NaN : input.value);
  const wrong = !Number.isFinite(value)
    ? "Write a number, such as 0.5."
    : value < 0 || (least > 0 && value === 0)
      ? `Write a number ${least > 0 ? "above 0" : "of 0 or more"}.`
      : null;
  setError(input, wrong);
  return wrong === null;
}

/** Return whether a field has a text; otherwise say so at the field. */
export function checkText(/** @type {HTMLInputElement | HTMLTextAreaElement} */ input, /** @type {string} */ message) {
  const missing = input.value.trim() === "";
  setError(input, missing ? message : null);
  return !missing;
}
