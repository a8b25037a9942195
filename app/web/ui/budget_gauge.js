// Shows a budget as a gauge: the browser's meter element, with the figures as text.

import { h } from "./dom.js";

/** Return a gauge of what an account may spend, has spent and has left. */
export function gauge(title, { epsilon_limit: limit, epsilon_spent: spent, epsilon_remaining: remaining }, note) {
  const most = Number(limit);
  const text = `ε ${spent} of ${limit} spent; ${remaining} left`;
  const meter = h("meter", {
    min: 0, max: most || 1, value: most ? Number(spent) : 1, high: most * 0.9 || 0.9, low: 0, optimum: 0,
    "aria-label": `${title}: ${text}`,
  });
  return h("div", { class: "gauge" },
    h("p", {}, h("strong", {}, title), h("span", {}, text)), meter, note && h("small", {}, note));
}

/** Return when an allowance is renewed, in words. */
export function windowNote(window) {
  if (!window) return null;
  const ends = new Date(window.ends_at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  return `Renewed every ${window.days} days; the next time at ${ends}.`;
}
