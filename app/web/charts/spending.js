// Shows what was spent of a budget, as steps in time and as a table by principal.

import { h, longList, table } from "../ui/dom.js";
import { costText, sumOf, time } from "../ui/format.js";
import { chart, draw } from "./charts.js";
import { lines } from "./lines.js";

/** @typedef {{ principal: string, at: string, epsilon: string }} Debit */

const LINES = 5; // further principals share one line
const DASHES = [undefined, "8 4", "2 4", "10 4 2 4", "14 4", "14 4 2 4"];

function byPrincipal(debits) {
  const groups = new Map();
  for (const debit of debits) {
    if (!groups.has(debit.principal)) groups.set(debit.principal, []);
    groups.get(debit.principal).push(debit);
  }
  return [...groups]
    .map(([principal, own]) => ({ principal, own, total: sumOf(own.map(({ epsilon }) => epsilon)) }))
    .sort((one, other) => Number(other.total) - Number(one.total));
}

/** Return the steps of a running sum, from 0 up to the time `until`. @returns {[number, number][]} */
function steps(/** @type {Debit[]} */ debits, /** @type {number} */ until) {
  let total = 0;
  /** @type {[number, number][]} */
  const points = [[Date.parse(debits[0].at), 0]];
  for (const { at, epsilon } of debits) {
    total += Number(epsilon);
    points.push([Date.parse(at), total]);
  }
  return [...points, [until, total]];
}

/** Return the drawing of what was spent: a line for each of the largest spenders, and one for all together. */
function figure(
  /** @type {ReturnType<typeof byPrincipal>} */ groups,
  /** @type {Debit[]} */ debits,
  /** @type {string | undefined} */ limit,
) {
  const now = Date.now();
  const named = groups.slice(0, LINES).map(({ principal, own }) => ({ name: principal, own }));
  const others = debits.filter(({ principal }) => !named.some(({ name }) => name === principal));
  if (others.length > 0) named.push({ name: "all others", own: others });
  /** @type {import("./lines.js").Series[]} */
  const series = named.map(({ name, own }, at) => ({
    name,
    points: steps(own, now),
    color: `var(--series-${at + 1})`,
    dash: DASHES[at],
    steps: true,
  }));
  if (named.length > 1)
    series.unshift({ name: "together", points: steps(debits, now), color: "var(--ink)", thick: 3, steps: true });
  if (limit !== undefined) {
    series.push({
      name: "limit",
      points: [
        [Date.parse(debits[0].at), Number(limit)],
        [now, Number(limit)],
      ],
      color: "var(--bad)",
      dash: "6 4",
      thick: 1,
    });
  }
  return lines({ x: { kind: "moment", title: "" }, y: { title: "ε spent", zero: true }, series });
}

/** Return a section with a chart and a table of debits, each `{principal, at, epsilon}`, oldest first. */
export function spending(title, debits, limit, complete) {
  if (debits.length === 0) {
    return h("section", { class: "card" }, h("h2", {}, title), h("p", {}, "Nothing has been spent yet."));
  }
  const groups = byPrincipal(debits);
  const picture = chart(`${title}; the table below has the figures`);
  draw(picture, figure(groups, debits, limit));
  const row = ({ principal, own, total }) => [principal, costText(total), String(own.length), time(own.at(-1).at)];
  return h(
    "section",
    { class: "card" },
    h("h2", {}, title),
    picture,
    !complete && h("p", { class: "notice" }, "Only the earliest part is shown: there is too much to load."),
    longList({
      items: groups,
      noun: "principal",
      textOf: ({ principal }) => principal,
      render: (shown) => table("By principal", ["Principal", "ε", "Debits", "Last"], shown.map(row), [1, 2]),
    }),
  );
}
