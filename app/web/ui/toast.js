// A short message at the edge of the page, for what has just been done. It goes by itself.

import { announce, byId, h } from "./element.js";

const SHOWN_MS = 6000;

/** Show a message for a few seconds, and let a screen reader read it. */
export function toast(/** @type {string} */ text) {
  announce(text);
  const shown = h(
    "div",
    { class: "toast" },
    h("span", {}, text),
    h("button", { type: "button", "aria-label": "Dismiss", click: () => shown.remove() }, "✕"),
  );
  byId("toasts").replaceChildren(shown);
  setTimeout(() => shown.remove(), SHOWN_MS);
}
