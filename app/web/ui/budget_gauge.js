// Shows a budget as a gauge, with the figures as text.

import { h } from "./element.js";
import { costText, leftText } from "./format.js";

const LOW = 0.1; // of the limit: a gauge with less left is a warning

/** Return the part of a limit as the width of a bar. */
const part = (/** @type {number} */ amount, /** @type {number} */ limit) => ({
  "--part": `${(100 * Math.min(1, Math.max(0, amount / limit))).toFixed(2)}%`,
});

/**
 * Return a gauge of what an account may spend, has spent and has left; `cost` is what a plan would add.
 * @param {string | Node} title
 * @param {{ epsilon_limit: string, epsilon_spent: string, epsilon_remaining: string }} budget
 * @param {import("./element.js").Content} [note]
 * @param {string} [cost]
 */
export function gauge(title, { epsilon_limit: limit, epsilon_spent: spent, epsilon_remaining: remaining }, note, cost) {
  const most = Number(limit);
  const text = `ε ${costText(spent)} of ${limit} spent; ${leftText(remaining)} left`;
  const left = most ? Number(remaining) / most : 0;
  const state = left <= 0 ? "bad" : left < LOW ? "warn" : "";
  const bar = h(
    "div",
    {
      class: "gauge-bar",
      role: "meter",
      "aria-valuemin": "0",
      "aria-valuemax": limit,
      "aria-valuenow": Math.min(Number(spent), most),
      "aria-valuetext": text,
      "aria-label": `${title instanceof Node ? title.textContent : title}: ${text}`,
    },
    h("span", { style: part(most ? Number(spent) : 1, most || 1) }),
    cost && h("span", { class: "cost", style: part(Number(cost), most || 1) }),
  );
  return h(
    "div",
    { class: `gauge ${state}`.trim() },
    h("p", {}, h("strong", {}, title), h("span", { title: `exactly ε ${spent} spent; ${remaining} left` }, text)),
    bar,
    note && h("small", {}, note),
  );
}

/** Return when an allowance is renewed, in words. */
export function windowNote(/** @type {{ days: number, ends_at: string } | null | undefined} */ window) {
  if (!window) return null;
  const ends = new Date(window.ends_at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  return `Renewed every ${window.days} days; the next time at ${ends}.`;
}
