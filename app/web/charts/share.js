// What can be taken away from a result: the picture, the figures, the question as a program, a sentence to cite it.

import { publishOffer } from "../figures/publish_offer.js";
import { copyText } from "../ui/copy.js";
import { h } from "../ui/element.js";
import { curl, python, r } from "./code.js";
import { saveCsv, savePng, saveSvg } from "./export.js";

/**
 * @typedef {{ name: string, picture?: HTMLElement | null, rows: unknown[][], request: import("./code.js").Request, citation: string, address: string | null, publication: import("../figures/publish_offer.js").Answer | null }} Shared
 * `rows` are the exact figures, with their headings first; `address` is that of the page of the result, if it has one and is not there;
 * `publication` is what can be published, if the user may
 */

/** Return the buttons of a result. */
export function shareButtons(/** @type {Shared} */ { name, picture, rows, request, citation, address, publication }) {
  const offer = publication && publishOffer(publication);
  const button = (/** @type {string} */ text, /** @type {() => any} */ act, /** @type {string} */ label) =>
    h("button", { type: "button", class: "link small", "aria-label": label, click: act }, text);
  const program = (
    /** @type {string} */ language,
    /** @type {(request: import("./code.js").Request, origin: string) => string} */ write,
  ) =>
    button(
      language,
      () => copyText(write(request, location.origin), `The question as ${language}`),
      `Copy the question as ${language}`,
    );
  const buttons = h(
    "div",
    { class: "share" },
    offer?.button,
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
      button("Cite", () => copyText(citation, "The citation"), "Copy a sentence to cite this"),
      address !== null && h("a", { href: address }, "Page of this answer"),
    ),
  );
  return [buttons, offer?.place];
}
