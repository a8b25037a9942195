// The controls of a sentence: selects and inputs that look like words, each with a name that is read aloud.

import { h } from "../../ui/dom.js";

/** Return a pill's place in the sentence: its error stands below it. */
const placed = (control) => h("span", { class: "pill-place field" }, control);

let numbered = 0;

/**
 * Return a choice as a word of the sentence. `options` are `[value, text]`, or `{label, options}` for a group of them.
 * @param {string} name
 * @param {any[]} options
 * @param {string} chosen
 * @param {() => void} change
 */
export function choice(name, options, chosen, change) {
  const option = (/** @type {any} */ [value, text]) => h("option", { value, selected: value === chosen }, text);
  const control = h(
    "select",
    { class: "pill", id: `pill-${++numbered}`, "aria-label": name, change },
    options.map((each) =>
      Array.isArray(each) ? option(each) : h("optgroup", { label: each.label }, each.options.map(option)),
    ),
  );
  return { control, element: placed(control) };
}

/** Return a field as a word of the sentence; `input` runs at every change. */
export function word(name, value, input, properties = {}) {
  const control = h("input", {
    class: "pill",
    id: `pill-${++numbered}`,
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-label": name,
    value,
    input,
    ...properties,
  });
  return { control, element: placed(control) };
}
