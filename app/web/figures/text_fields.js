// The fields of the name, the title and the note of a figure or a collection.

import { checkText } from "../forms/amounts.js";
import { field, h, setError } from "../ui/dom.js";
import { isFigureName, MAX_NAME, MAX_NOTE, MAX_TITLE } from "./names.js";

/**
 * Return the inputs with what these texts begin as, their labelled fields, and a check that shows what is wrong.
 * `input` is called when the name is typed.
 * @param {{ name: string, title: string, note: string | null | undefined }} texts
 * @param {(event: Event) => void} input
 */
export function textFields(texts, input) {
  const name = h("input", {
    type: "text",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: MAX_NAME,
    value: texts.name,
    input,
  });
  const title = h("input", { type: "text", autocomplete: "off", maxlength: MAX_TITLE, value: texts.title });
  const note = h("textarea", { class: "prose", rows: 3, maxlength: MAX_NOTE, value: texts.note ?? "" });

  const checkName = () => {
    const isRight = isFigureName(name.value.trim());
    setError(name, isRight ? null : "Use small letters, digits, - and _; begin with a letter or a digit.");
    return isRight;
  };
  return {
    name,
    title,
    note,
    nameField: () => field("Name", name, "It is part of the address, and stays."),
    titleField: () => field("Title", title),
    noteField: () => field("Note (optional)", note, "What readers should know. It is shown as plain text."),
    requested: () => ({ title: title.value.trim(), note: note.value.trim() || null }),
    check: () => [checkName(), checkText(title, "Write a title.")].every(Boolean),
  };
}
