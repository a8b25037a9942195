// One number a line, with its interval: bars of counts and sums, dots of means and quantiles. On a phone, each label
// stands above its line.

import { svg } from "../ui/element.js";
import { axis, xTicks } from "./axes.js";
import { canvas } from "./charts.js";
import { label, widthOf } from "./text.js";

/**
 * @typedef {{ label: string, value: number | null, low: number, high: number, text: string }} Row
 * @typedef {{ rows: Row[], mark: "bar" | "dot", title: string, domain?: [number, number], kind?: "linear" | "year" | "time" }} Rows
 */

const WIDE = 540; // pixels from which labels stand beside their lines
const LINE = 30;
const NARROW_LINE = 48;
const TITLE = 24;
const FOOT = 30;

function places(/** @type {number} */ width, /** @type {Row[]} */ rows) {
  if (width < WIDE) return { wide: false, left: 8, right: width - 8, line: NARROW_LINE, most: width };
  const room = Math.min(Math.max(...rows.map((row) => widthOf(row.label))) + 16, width * 0.42);
  const texts = Math.max(...rows.map(({ text }) => widthOf(text))) + 16;
  return { wide: true, left: Math.max(room, 24), right: width - Math.max(texts, 24), line: LINE, most: room - 16 };
}

/** Return the least and the largest end of rows that have a value; bars begin at 0. */
export const ends = (/** @type {Row[]} */ rows, /** @type {boolean} */ zero) => {
  const known = rows
    .filter(({ value }) => value !== null)
    .flatMap(({ value, low, high }) => [/** @type {number} */ (value), low, high])
    .filter(Number.isFinite);
  const [low, high] = known.length > 0 ? [Math.min(...known), Math.max(...known)] : [0, 1];
  return /** @type {[number, number]} */ (zero ? [Math.min(0, low), Math.max(0, high)] : [low, high]);
};

/** Return the drawing of lines with a bar or a dot each, and their intervals. */
export const rowChart =
  (/** @type {Rows} */ { rows, mark, title, domain, kind = "linear" }) =>
  (/** @type {number} */ width) => {
    const { wide, left, right, line, most } = places(width, rows);
    const bottom = TITLE + rows.length * line;
    const across = axis(kind, domain ?? ends(rows, mark === "bar"), [left, right], { nice: true });
    const { scale } = across;
    const drawn = rows.map(({ label: name, value, low, high, text }, at) => {
      const top = TITLE + at * line;
      const y = wide ? top + line / 2 : top + line - 12;
      const inside = (/** @type {number} */ x) => Math.max(left, Math.min(right, scale(x)));
      const interval =
        low <= high &&
        svg("line", {
          class: "interval",
          x1: inside(low),
          x2: Math.max(inside(high), inside(low) + 1),
          y1: y,
          y2: y,
          stroke: value === null ? "var(--line)" : mark === "bar" ? "var(--ink)" : "var(--accent)",
          "stroke-width": mark === "bar" ? 2 : 3,
          "stroke-linecap": "round",
        });
      return svg(
        "g",
        { class: "row" },
        svg("title", {}, `${name}: ${text}`),
        label(name, wide ? left - 12 : 0, wide ? y + 4 : top + 18, {
          class: "row-label",
          "text-anchor": wide ? "end" : "start",
          most: wide ? most : width - widthOf(text) - 12,
        }),
        label(text, wide ? right + 12 : width, wide ? y + 4 : top + 18, {
          class: "row-text",
          "text-anchor": wide ? "start" : "end",
          fill: "var(--muted)",
        }),
        mark === "bar" &&
          value !== null &&
          svg("rect", {
            class: "bar",
            x: Math.min(scale(0), scale(value)),
            width: Math.max(1, Math.abs(scale(value) - scale(0))),
            y: y - (wide ? 9 : 7),
            height: wide ? 18 : 14,
            rx: 2,
            fill: "var(--accent)",
            "fill-opacity": 0.55,
          }),
        interval,
        mark === "dot" &&
          value !== null &&
          svg("circle", {
            class: "dot",
            cx: inside(value),
            cy: y,
            r: 5,
            fill: "var(--surface)",
            stroke: "var(--accent)",
            "stroke-width": 2.5,
          }),
      );
    });
    return canvas(
      width,
      bottom + FOOT,
      label(title, wide ? left : 0, 12, { class: "x-title", fill: "var(--muted)", most: wide ? width - left : width }),
      xTicks(across, bottom, TITLE, width),
      drawn,
    );
  };
