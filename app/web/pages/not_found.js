// The page of an address that is none of ours.

import { h } from "../ui/dom.js";

export const NOT_FOUND = "This page does not exist";

/** Return what is said of an address without a page, with the ways on. */
export const notFound = () => [
  h(
    "div",
    { class: "empty" },
    h("p", { class: "error-code", "aria-hidden": "true" }, "404"),
    h("p", {}, "The address may be mistyped, or what it named is closed or was never shared with you."),
    h(
      "div",
      { class: "buttons" },
      h("a", { href: "#/datasets" }, "All datasets"),
      h("a", { href: "/guide/" }, "Guide"),
    ),
  ),
];
