// Dialogs: one question before an act, or one thing to read. Escape and the backdrop close them without an act.

import { fill, h, newId } from "./element.js";

/** @typedef {{ text: string, value: string, class?: string }} Action */

/**
 * Open a dialog and return the value of the chosen action, or "" if it was closed.
 * @param {{ title: string, content: import("./element.js").Content, actions?: Action[], wide?: boolean }} parts
 * @returns {Promise<string>}
 */
export function openDialog({ title, content, actions = [{ text: "Close", value: "" }], wide = false }) {
  return new Promise((resolve) => {
    const id = newId("dialog");
    let isBeside = false; // whether the press began beside the dialog: text that is selected may end there
    const dialog = h("dialog", {
      "aria-labelledby": id,
      class: wide && "wide",
      close: () => {
        dialog.remove();
        resolve(dialog.returnValue);
      },
      mousedown: (/** @type {MouseEvent} */ event) => (isBeside = event.target === dialog && outside(dialog, event)),
      click: (/** @type {MouseEvent} */ event) => {
        if (isBeside && event.target === dialog && outside(dialog, event)) dialog.close("");
      },
    });
    const button = (/** @type {Action} */ { text, value, class: style }) =>
      h("button", { type: "button", class: style, click: () => dialog.close(value) }, text);
    fill(dialog, h("h2", { id }, title), content, h("div", { class: "buttons" }, actions.map(button)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Return whether a click on a dialog was beside it, on its backdrop. */
function outside(/** @type {HTMLElement} */ dialog, /** @type {MouseEvent} */ { clientX: x, clientY: y }) {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return x < left || x > right || y < top || y > bottom;
}

/**
 * Ask before an act that cannot be undone, with `fields` for it; return whether the user confirmed.
 * @param {string} question
 * @param {string} action
 * @param {...import("./element.js").Content} fields
 */
export const confirmed = (question, action, ...fields) => asked(question, action, "danger", fields);

/**
 * Ask before an act that is no harm, with `fields` for it; return whether the user confirmed.
 * @param {string} question
 * @param {string} action
 * @param {...import("./element.js").Content} fields
 */
export const agreed = (question, action, ...fields) => asked(question, action, undefined, fields);

async function asked(
  /** @type {string} */ question,
  /** @type {string} */ action,
  /** @type {string | undefined} */ style,
  /** @type {import("./element.js").Content} */ content,
) {
  const actions = [
    { text: "Cancel", value: "", class: "quiet" },
    { text: action, value: "yes", class: style },
  ];
  return (await openDialog({ title: question, content, actions })) === "yes";
}
