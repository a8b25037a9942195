// Copies a text to the clipboard.

import { openDialog } from "./dialog.js";
import { h } from "./element.js";
import { toast } from "./toast.js";

/** Copy a text; where the browser forbids it, show it to be copied by hand. `what` names it. */
export async function copyText(/** @type {string} */ text, /** @type {string} */ what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is copied.`);
  } catch {
    await openDialog({ title: what, wide: true, content: h("pre", { class: "code", tabindex: "0" }, text) });
  }
}
