// Messages in the page: problems, notices, empty states, and the shape of what is still loading.

import { h } from "./element.js";

/** @typedef {import("./element.js").Content} Content */

/** Return a message without its reference to the member of the response that is listed below it. */
const withoutMember = (/** @type {string} */ text) => text.replace(/: `errors` says where and what\.$/, ":");

/**
 * Return a problem as text; a screen reader reads it at once.
 * @param {any} error
 */
export function alertOf(error) {
  const lines = (error.errors ?? []).map((/** @type {any} */ { where, what }) => h("li", {}, `${where}: ${what}`));
  return h(
    "div",
    { role: "alert", class: "alert" },
    h("p", {}, h("strong", {}, error.title ?? "Something went wrong"), ". ", withoutMember(error.message ?? "")),
    lines.length > 0 && h("ul", {}, lines),
  );
}

/**
 * Return a notice: "warn" (what to know before going on), "info", "good" or "bad".
 * @param {"warn" | "info" | "good" | "bad"} kind
 * @param {...Content} children
 */
export const notice = (kind, ...children) => h("div", { class: `notice ${kind}` }, children);

/**
 * Return what stands where there is nothing yet: what will be here, and how to get it.
 * @param {string} title
 * @param {Content} text
 * @param {...Content} actions
 */
export const empty = (title, text, ...actions) =>
  h(
    "div",
    { class: "empty" },
    h("h2", {}, title),
    h("p", {}, text),
    actions.length > 0 && h("div", { class: "buttons" }, actions),
  );

/** Return grey lines in the place of what is being loaded. */
export const skeleton = (lines = 5) =>
  h(
    "div",
    { class: "skeleton", "aria-hidden": "true" },
    h("span", { class: "block" }),
    Array.from({ length: lines }, () => h("span")),
  );

/**
 * Return a short word about a state: neutral, or "good", "warn", "bad", "accent".
 * @param {Content} text
 * @param {"good" | "warn" | "bad" | "accent"} [kind]
 */
export const badge = (text, kind) => h("span", { class: kind ? `badge ${kind}` : "badge" }, text);

/**
 * Return a chip, such as one condition of a filter. With `remove`, it has a button that is called `name`.
 * @param {Content} text
 * @param {{ remove?: () => void, name?: string }} [properties]
 */
export const chip = (text, { remove, name } = {}) =>
  h(
    "span",
    { class: "chip" },
    h("span", {}, text),
    remove && h("button", { type: "button", "aria-label": name ?? "Remove", click: remove }, "✕"),
  );
