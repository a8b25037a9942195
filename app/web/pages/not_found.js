// The page of an address that is none of ours.

import { path } from "../api.js";
import { h } from "../ui/dom.js";

export const NOT_FOUND = "This page does not exist";

/** Return what is said of a dataset that does not exist, or that the user may not see; `names` are those that it may. */
export function noDataset(/** @type {string} */ name, /** @type {string[]} */ names) {
  const link = (/** @type {string} */ each) => h("li", {}, h("a", { href: `#${path("datasets", each)}` }, each));
  const near = names.filter((each) => each.includes(name.slice(0, 4)) || name.includes(each.slice(0, 4))).slice(0, 5);
  return h(
    "div",
    { class: "empty" },
    h("h2", {}, `You see no dataset “${name}”`),
    h(
      "p",
      {},
      "The name may be mistyped, or nobody has granted you an allowance on it: its owner can. Until then the service does not say whether it exists.",
    ),
    near.length > 0 && [h("p", {}, "Did you mean one of these?"), h("ul", { class: "plain" }, near.map(link))],
    h("div", { class: "buttons" }, h("a", { href: "#/datasets" }, "All datasets")),
  );
}

/** Return what is said of a release that does not exist, or that the user may not see. */
export const noRelease = (/** @type {string} */ dataset) =>
  h(
    "div",
    { class: "empty" },
    h("h2", {}, "This release is not here"),
    h("p", {}, "The address may be cut off or mistyped, or it belongs to a dataset that you may not see."),
    h(
      "div",
      { class: "buttons" },
      h("a", { href: `#${path("datasets", dataset, "releases")}` }, `Releases of ${dataset}`),
    ),
  );

/** Return what is said of a figure that does not exist, or that the user may not see. */
export const noFigure = () =>
  h(
    "div",
    { class: "empty" },
    h("h2", {}, "This figure is not here"),
    h("p", {}, "It may be withdrawn, its name may be mistyped, or its owner has not let you see it."),
    h("div", { class: "buttons" }, h("a", { href: "#/figures" }, "All figures")),
  );

/** Return what is said of an address without a page, with the ways on; `isMore` is false for those who see figures alone. */
export const notFound = (/** @type {boolean} */ isMore) => [
  h(
    "div",
    { class: "empty" },
    h("p", { class: "error-code", "aria-hidden": "true" }, "404"),
    h("p", {}, "The address may be mistyped, or what it named is closed or was never shared with you."),
    h(
      "div",
      { class: "buttons" },
      isMore
        ? [h("a", { href: "#/datasets" }, "All datasets"), h("a", { href: "/guide/" }, "Guide")]
        : h("a", { href: "#/figures" }, "All figures"),
    ),
  ),
];
