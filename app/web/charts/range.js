// An interval within the range that the statistic can have: what is known before a release, and after it.

import { svg } from "../ui/element.js";
import { canvas } from "./charts.js";
import { label, widthOf } from "./text.js";

/**
 * @typedef {{ range: [number, number], interval: [number, number], value?: number | null, ends: [string, string], text: string }} Range
 * `ends` are the ends of the range as texts, `text` is what stands above the interval
 */

const TRACK = 10;

/** Return the drawing of an interval on the line of its range; a point at `value`, if it is known. */
export const rangePicture =
  (/** @type {Range} */ { range: [low, high], interval, value = null, ends, text }) =>
  (/** @type {number} */ width) => {
    const [left, right, y] = [8, width - 8, 38];
    const px = (/** @type {number} */ x) =>
      left + (right - left) * Math.max(0, Math.min(1, (x - low) / (high - low || 1)));
    const middle = (px(interval[0]) + px(interval[1])) / 2;
    const wide = Math.max(4, px(interval[1]) - px(interval[0]));
    const half = widthOf(text) / 2;
    const at = Math.max(half, Math.min(width - half, middle));
    return canvas(
      width,
      70,
      svg("line", {
        x1: left,
        x2: right,
        y1: y,
        y2: y,
        stroke: "var(--line)",
        "stroke-width": TRACK,
        "stroke-linecap": "round",
      }),
      svg("rect", {
        class: "interval",
        x: Math.max(left - 5, middle - wide / 2),
        y: y - TRACK / 2,
        width: wide,
        height: TRACK,
        rx: TRACK / 2,
        fill: "var(--accent)",
        "fill-opacity": value === null ? 1 : 0.75,
      }),
      value !== null &&
        svg("circle", {
          class: "dot",
          cx: px(value),
          cy: y,
          r: 6,
          fill: "var(--surface)",
          stroke: "var(--accent)",
          "stroke-width": 3,
        }),
      label(text, at, 18, { "text-anchor": "middle", most: width }),
      label(ends[0], 0, y + 26, { fill: "var(--muted)", most: width / 2 - 8 }),
      label(ends[1], width, y + 26, { fill: "var(--muted)", "text-anchor": "end", most: width / 2 - 8 }),
    );
  };
