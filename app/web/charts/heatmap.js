// A two-way table as a heatmap with its numbers. It is never shrunk: where there is no room, its box scrolls.

import { svg } from "../ui/element.js";
import { tickText } from "../ui/rounding.js";
import { canvas } from "./charts.js";
import { label, widthOf } from "./text.js";

/** @typedef {{ rows: string[], columns: string[], values: number[][], texts: string[][], down: string, across: string }} Heatmap */

const CELL = { height: 32, least: 46, label: 90, most: 120 };
const [LIGHTEST, DARKEST] = [0.05, 0.75]; // opacity of a cell: numbers can be read on each
const DARK = 0.65; // part of the largest number from which a cell counts as dark

/** Return the drawing of a heatmap: `down` names the rows, `across` the columns. */
export const heatmap =
  (/** @type {Heatmap} */ { rows, columns, values, texts, down, across }) =>
  (/** @type {number} */ width) => {
    const most = Math.max(...values.flat(), 1);
    const numbers = values.map((each) => each.map(tickText));
    const left = Math.min(Math.max(...rows.map((row) => widthOf(row))) + 12, width < 540 ? 110 : width * 0.3);
    const labels = Math.min(CELL.label, Math.max(...columns.map((column) => widthOf(column))));
    const widest = Math.max(CELL.least, labels + 10, Math.max(...numbers.flat().map((text) => widthOf(text))) + 10);
    const cell = Math.max(widest, Math.min(CELL.most, (width - left) / columns.length));
    const [total, top] = [Math.max(width, Math.ceil(left + cell * columns.length)), 48];
    const height = top + rows.length * CELL.height;
    const cells = values.map((line, row) =>
      line.map((value, column) => {
        const [x, y, part] = [left + column * cell, top + row * CELL.height, Math.max(0, value) / most];
        return svg(
          "g",
          { class: "cell" },
          svg("title", {}, texts[row][column]),
          svg("rect", {
            x: x + 1,
            y: y + 1,
            width: cell - 2,
            height: CELL.height - 2,
            rx: 3,
            fill: "var(--accent)",
            "fill-opacity": (LIGHTEST + (DARKEST - LIGHTEST) * part).toFixed(3),
          }),
          label(numbers[row][column], x + cell / 2, y + CELL.height / 2 + 4, {
            "text-anchor": "middle",
            fill: part > DARK ? "var(--on-heat)" : "var(--ink)",
          }),
        );
      }),
    );
    return canvas(
      total,
      height + 8,
      label(down, 0, 38, { class: "y-title", fill: "var(--muted)", most: left - 8 }),
      label(across, left, 14, { class: "x-title", fill: "var(--muted)", most: total - left }),
      columns.map((text, at) =>
        label(text, left + (at + 0.5) * cell, 38, { class: "x-tick", "text-anchor": "middle", most: cell - 6 }),
      ),
      rows.map((text, at) =>
        label(text, left - 10, top + (at + 0.5) * CELL.height + 4, {
          class: "y-tick",
          "text-anchor": "end",
          most: left - 12,
        }),
      ),
      cells,
    );
  };
