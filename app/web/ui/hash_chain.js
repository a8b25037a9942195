// The common parts of pages with hash chains: a table in parts, and the verification of the chain.

import { get } from "../api.js";
import { facts, fill, form, h, table } from "./dom.js";
import { number } from "./format.js";

const PAGE = 100;

/** Return the beginning of a hash; the tooltip has the whole. */
export const short = (hash) => (hash ? h("code", { title: hash }, hash.slice(0, 12)) : "");

/** Return a table that shows a hundred items at a time, newest first. */
export function inParts(caption, headings, newestFirst, row, numeric) {
  const place = h("div");
  const turn = (text, from) => h("button", { type: "button", class: "quiet", click: () => show(from) }, text);
  const show = (from) =>
    fill(
      place,
      table(caption, headings, newestFirst.slice(from, from + PAGE).map(row), numeric),
      h(
        "div",
        { class: "buttons" },
        from > 0 && turn("Newer entries", from - PAGE),
        from + PAGE < newestFirst.length && turn("Older entries", from + PAGE),
      ),
    );
  show(0);
  return place;
}

function found({ valid, entries, head, problems }) {
  const where = ({ seq, what }) => h("li", {}, seq === null ? what : `entry ${seq}: ${what}`);
  const many = `${number(entries)} ${entries === 1 ? "entry" : "entries"}`;
  return [
    h(
      "p",
      { class: valid ? "verdict" : "verdict refused" },
      h("strong", {}, valid ? `Valid: ${many}.` : "Not valid: see the problems below."),
    ),
    problems.length > 0 && h("ul", {}, problems.map(where)),
    facts([["Head", head && h("code", {}, head)]]),
  ];
}

/** Return a form that lets the service verify a chain at the path `at`, and shows the result. */
export function verification(at, action, about) {
  const outcome = h("div", { role: "status" });
  const verify = async () => {
    fill(outcome, "Verifying the chain …");
    try {
      fill(outcome, found(await get(at)));
    } catch (error) {
      fill(outcome);
      throw error;
    }
  };
  return form(
    { class: "card" },
    verify,
    h("h2", {}, "Verification"),
    h("p", {}, about),
    h("button", { type: "submit" }, action),
    outcome,
  );
}
