// Cards and lists of facts.

import { h } from "./element.js";

/** @typedef {import("./element.js").Content} Content */

/**
 * Return a card with a heading; `aside` stands at the other end of the heading's line.
 * @param {Content} title
 * @param {Content} content
 * @param {{ aside?: Content, class?: string, label?: string }} [properties]
 */
export function card(title, content, { aside, class: more, label } = {}) {
  const head = title && (aside ? h("div", { class: "card-head" }, h("h2", {}, title), aside) : h("h2", {}, title));
  return h("section", { class: more ? `card ${more}` : "card", "aria-label": label }, head, content);
}

const pairsOf = (/** @type {[Content, Content][]} */ pairs) =>
  pairs
    .filter(([, value]) => value != null && value !== false)
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));

/** Return names with their values below, in columns. */
export const facts = (/** @type {[Content, Content][]} */ pairs) => h("dl", { class: "facts" }, pairsOf(pairs));

/** Return names with their values beside, one a line, as in an invoice. */
export const lines = (/** @type {[Content, Content][]} */ pairs) => h("dl", { class: "lines" }, pairsOf(pairs));
