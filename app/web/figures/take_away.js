// What can be taken away from a figure: its address, its files, and what shows or reads it elsewhere.

import { fetchFile } from "../api.js";
import { copyText } from "../ui/copy.js";
import { h } from "../ui/element.js";
import { saveFile } from "../ui/save_file.js";
import { toast } from "../ui/toast.js";
import { pageAddress, rowsAddress } from "./addresses.js";
import { curl, frame, python } from "./snippets.js";

/** @typedef {import("./snippets.js").Figure} Figure */

/** Return a link to a file. It is fetched with the key of this tab, and its address can be copied. */
export const fileLink = (/** @type {string} */ text, /** @type {string} */ address, /** @type {string} */ label) =>
  h(
    "a",
    {
      href: address,
      "aria-label": label,
      click: (/** @type {MouseEvent} */ event) => {
        event.preventDefault();
        fetchFile(address).then(
          (content) => saveFile(content, address.split("/").slice(-1)[0]),
          (error) => toast(error.message),
        );
      },
    },
    text,
  );

const snippet = (/** @type {string} */ title, /** @type {string} */ text, /** @type {string} */ note) => [
  h(
    "div",
    { class: "card-head" },
    h("h3", {}, title),
    h(
      "button",
      { type: "button", class: "quiet small", "aria-label": `Copy: ${title}`, click: () => copyText(text, title) },
      "Copy",
    ),
  ),
  h("pre", { class: "code", tabindex: "0" }, text),
  h("p", { class: "muted" }, note),
];

/** Return a figure's address and files, and folded what shows or reads it elsewhere. */
export function takeAway(/** @type {Figure} */ figure) {
  const isPublic = figure.audience === "public";
  const address = `${location.origin}${pageAddress(figure)}`;
  const named = (/** @type {string} */ what) => `Save ${figure.title} as ${what}`;
  return [
    h(
      "p",
      { class: "row" },
      h("a", { href: pageAddress(figure), target: "_blank", rel: "noopener" }, address),
      h(
        "button",
        { type: "button", class: "quiet small", click: () => copyText(address, "The address") },
        "Copy the address",
      ),
    ),
    h(
      "p",
      { class: "muted" },
      isPublic
        ? "Everybody who reaches this service may open it."
        : "The browser asks for a key: any user name, and the key as the password.",
    ),
    h(
      "div",
      { class: "share" },
      h(
        "div",
        { class: "row" },
        h("span", { class: "muted" }, "Rows"),
        ["csv", "parquet", "json"].map((form) =>
          fileLink(form === "parquet" ? "Parquet" : form.toUpperCase(), rowsAddress(figure, form), named(form)),
        ),
      ),
      h(
        "div",
        { class: "row" },
        h("span", { class: "muted" }, "Picture"),
        ["svg", "png"].map((kind) => fileLink(kind.toUpperCase(), pageAddress(figure, `.${kind}`), named(kind))),
      ),
    ),
    h(
      "details",
      {},
      h("summary", {}, "Embed it, or read it in programs"),
      snippet(
        "Frame of a page",
        frame(figure, location.origin),
        `Shown on the pages that SNAPLEDGER_FIGURES_FRAME_ANCESTORS names${isPublic ? "" : ", to readers who have opened the figure before: browsers ask for no key in a frame"}.`,
      ),
      snippet("Command", curl(figure, location.origin), "Prints the rows as CSV."),
      snippet("Python", python(figure, location.origin), "The rows, one for each number."),
    ),
  ];
}
