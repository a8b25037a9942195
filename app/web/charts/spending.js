// Shows what was spent of a budget, as steps in time and as a table by principal.

import { h, table } from "../ui/dom.js";
import { plain, time } from "../ui/format.js";
import { chart, draw, palette } from "./charts.js";

const LINES = 5; // further principals share one line
const NANO = 9;

const nano = (epsilon) => {
  const [whole, part = ""] = epsilon.split(".");
  return BigInt(whole + part.padEnd(NANO, "0"));
};

/** Return the exact sum of several ε, as a decimal string. */
export function sum(epsilons) {
  const digits = epsilons.reduce((total, epsilon) => total + nano(epsilon), 0n).toString().padStart(NANO + 1, "0");
  return `${digits.slice(0, -NANO)}.${digits.slice(-NANO)}`.replace(/\.?0+$/, "");
}

function byPrincipal(debits) {
  const groups = new Map();
  for (const debit of debits) {
    if (!groups.has(debit.principal)) groups.set(debit.principal, []);
    groups.get(debit.principal).push(debit);
  }
  return [...groups].map(([principal, own]) => ({ principal, own, total: sum(own.map(({ epsilon }) => epsilon)) }))
    .sort((one, other) => Number(other.total) - Number(one.total));
}

/** Return the steps of a running sum, from 0 up to the time `until`. */
function steps(debits, until) {
  let total = 0;
  const x = [debits[0].at];
  const y = [0];
  for (const { at, epsilon } of debits) {
    total += Number(epsilon);
    x.push(at);
    y.push(total);
  }
  return { x: [...x, until], y: [...y, total] };
}

function figure(groups, debits, limit) {
  const { text, danger, series } = palette();
  const now = new Date().toISOString();
  const dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const lines = groups.slice(0, LINES).map(({ principal, own }) => ({ name: plain(principal), own }));
  const others = debits.filter(({ principal }) => !groups.slice(0, LINES).some((group) => group.principal === principal));
  if (others.length > 0) lines.push({ name: "all others", own: others });
  const hovertemplate = "%{fullData.name}: ε %{y}<br>%{x}<extra></extra>";
  const line = (name, own, style) => ({
    type: "scatter", mode: own.length < 30 ? "lines+markers" : "lines", name, ...steps(own, now), hovertemplate,
    line: { shape: "hv", width: 2, ...style },
  });
  const data = lines.map(({ name, own }, at) => line(name, own, { color: series[at], dash: dashes[at] }));
  if (lines.length > 1) data.unshift(line("together", debits, { color: text, width: 3 }));
  if (limit !== undefined) {
    data.push({ type: "scatter", mode: "lines", name: "limit", x: [debits[0].at, now], y: [Number(limit), Number(limit)],
      line: { color: danger, dash: "dash", width: 1 }, hovertemplate: "limit: ε %{y}<extra></extra>" });
  }
  return { data, layout: { showlegend: true, xaxis: { type: "date", nticks: 5, tickangle: 0 }, yaxis: { title: { text: "ε spent" }, rangemode: "tozero" } } };
}

/** Return a section with a chart and a table of debits, each `{principal, at, epsilon}`, oldest first. */
export function spending(title, debits, limit, complete) {
  if (debits.length === 0) {
    return h("section", { class: "card" }, h("h2", {}, title), h("p", {}, "Nothing has been spent yet."));
  }
  const groups = byPrincipal(debits);
  const picture = chart(`${title}; the table below has the figures`);
  draw(picture, () => figure(groups, debits, limit));
  const rows = groups.map(({ principal, own, total }) => [principal, total, String(own.length), time(own.at(-1).at)]);
  return h("section", { class: "card" }, h("h2", {}, title), picture,
    !complete && h("p", { class: "notice" }, "Only the earliest part is shown: there is too much to load."),
    table("By principal", ["Principal", "ε", "Debits", "Last"], rows, [1, 2]));
}
