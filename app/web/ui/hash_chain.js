// The verification of a chain of hashes: when it was last verified, by whom and what was found, and a button to do it.

import { get } from "../api.js";
import { alertOf, badge, card, fill, h, help } from "./dom.js";
import { ago, count } from "./format.js";

const GUIDE = "/guide/";

/** Return the beginning of a hash; the tooltip has the whole. */
export const short = (/** @type {string | null} */ hash) => (hash ? h("code", { title: hash }, hash.slice(0, 12)) : "");

/** Return who verified: a principal, or the service itself. */
const by = (/** @type {any} */ { via, actor }) => (via === "principal" ? actor : `the ${via}`);

/** Return the state of a ledger in a line: valid or not, when and by whom. */
export const verified = (/** @type {any} */ latest) =>
  latest === null
    ? "Never verified while the service ran."
    : h(
        "span",
        {},
        badge(latest.valid ? "valid" : "not valid", latest.valid ? "good" : "bad"),
        " ",
        `${count(latest.entries, "entry")}, verified `,
        ago(latest.at),
        ` by ${by(latest)}`,
      );

function problems(/** @type {any} */ { valid, entries, head, problems: found }) {
  const where = (/** @type {any} */ { seq, what }) => h("li", {}, seq === null ? what : `entry ${seq}: ${what}`);
  return [
    h(
      "p",
      { class: valid ? "verdict good-text" : "verdict refused" },
      h("strong", {}, valid ? `Valid: ${count(entries, "entry")}.` : "Not valid: see the problems below."),
    ),
    found.length > 0 && h("ul", {}, found.map(where)),
    !valid &&
      h(
        "p",
        {},
        "Tell the operator: something outside the service changed what is stored. ",
        h("a", { href: `${GUIDE}ledger.html`, target: "_blank", rel: "noopener" }, "What to do"),
      ),
    head && h("details", {}, h("summary", {}, "Head of the chain"), h("code", {}, head)),
  ];
}

/**
 * Return a card with the state of a chain, which the service verifies at the path `at` when asked.
 * @param {string} at
 * @param {string} action
 * @param {string} about
 */
export async function verification(at, action, about) {
  const state = h("p");
  const outcome = h("div", { role: "status" });
  const show = async () => fill(state, verified((await get(`${at}/latest`)).latest));
  const verify = async () => {
    button.setAttribute("aria-disabled", "true");
    fill(outcome, h("p", { class: "muted" }, "Verifying …"));
    try {
      fill(outcome, problems(await get(at)));
      await show();
    } catch (error) {
      fill(outcome, alertOf(error));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  };
  const button = h(
    "button",
    { type: "button", class: "quiet", click: () => button.getAttribute("aria-disabled") !== "true" && verify() },
    action,
  );
  await show();
  return card(["Verification ", help("verification")], [state, h("p", { class: "muted" }, about), outcome], {
    aside: button,
  });
}
