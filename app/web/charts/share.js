// What can be taken away from a result: the picture, the figures, the question as a program, a sentence to cite it.

import { h, openDialog, toast } from "../ui/dom.js";
import { curl, python, r } from "./code.js";
import { saveCsv, savePng, saveSvg } from "./export.js";

/**
 * @typedef {{ name: string, picture?: HTMLElement | null, rows: unknown[][], request: import("./code.js").Request, citation: string, address: string | null }} Shared
 * `rows` are the exact figures, with their headings first; `address` is that of the page of the result, if it has one and is not there
 */

/** Copy a text; where the browser forbids it, show it to be copied by hand. */
async function copy(/** @type {string} */ text, /** @type {string} */ what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is copied.`);
  } catch {
    await openDialog({ title: what, wide: true, content: h("pre", { class: "code", tabindex: "0" }, text) });
  }
}

/** Return the buttons of a result. */
export function shareButtons(/** @type {Shared} */ { name, picture, rows, request, citation, address }) {
  const button = (/** @type {string} */ text, /** @type {() => any} */ act, /** @type {string} */ label) =>
    h("button", { type: "button", class: "link small", "aria-label": label, click: act }, text);
  const program = (
    /** @type {string} */ language,
    /** @type {(request: import("./code.js").Request, origin: string) => string} */ write,
  ) =>
    button(
      language,
      () => copy(write(request, location.origin), `The question as ${language}`),
      `Copy the question as ${language}`,
    );
  return h(
    "div",
    { class: "share" },
    h(
      "div",
      { class: "row" },
      h("span", { class: "muted" }, "Save"),
      picture && [
        button("PNG", () => savePng(picture, name), "Save the picture as PNG"),
        button("SVG", () => saveSvg(picture, name), "Save the picture as SVG"),
      ],
      button("CSV", () => saveCsv(rows, name), "Save the figures as CSV"),
    ),
    h(
      "div",
      { class: "row" },
      h("span", { class: "muted" }, "Copy as"),
      program("Python", python),
      program("R", r),
      program("curl", curl),
    ),
    h(
      "div",
      { class: "row" },
      button("Cite", () => copy(citation, "The citation"), "Copy a sentence to cite this"),
      address !== null && h("a", { href: address }, "Page of this answer"),
    ),
  );
}
