// Bins of an axis of numbers or dates as bars, with their intervals; bins beside the axis (missing, other) stand apart.

import { svg } from "../ui/element.js";
import { area, curveStepAfter } from "../vendor/d3.js";
import { axis, xTicks, yRoom, yTicks } from "./axes.js";
import { canvas } from "./charts.js";
import { label, widthOf } from "./text.js";

/**
 * @typedef {{ from: number, to: number, value: number, low: number, high: number, text: string }} Bin
 * @typedef {{ label: string, value: number, low: number, high: number, text: string }} Beside
 * @typedef {{ bins: Bin[], beside: Beside[], kind: "linear" | "year" | "time", title: string, measure: string }} Histogram
 */

const NARROW_BAR = 3; // pixels: thinner bars become one area
const APART = 44;
const GAP = 12; // before the bins beside the axis

/** Return the drawing of a histogram. */
export const histogram =
  (/** @type {Histogram} */ { bins, beside, kind, title, measure }) =>
  (/** @type {number} */ width) => {
    const [top, height] = [30, width < 540 ? 220 : 280];
    const bottom = top + height;
    const values = [...bins, ...beside].flatMap(({ low, high, value }) => [low, high, value]);
    const most = values.reduce((large, each) => Math.max(large, each), 0);
    const least = values.reduce((small, each) => Math.min(small, each), 0);
    const down = axis("linear", [least, most], [bottom, top], { nice: true, direction: "y" });
    const left = yRoom(down);
    const slot = Math.max(APART, ...beside.map((each) => Math.min(90, widthOf(each.label) + 12)));
    const right = width - 12 - (beside.length > 0 ? GAP + beside.length * slot : 0);
    const across = axis(kind, [bins[0].from, bins[bins.length - 1].to], [left, right]);
    const [px, py] = [across.scale, down.scale];
    const bar = (
      /** @type {number} */ x,
      /** @type {number} */ wide,
      /** @type {Bin | Beside} */ { value, low, high, text },
      soft = false,
    ) =>
      svg(
        "g",
        { class: "bin" },
        svg("title", {}, text),
        svg("rect", {
          class: "bar",
          x,
          width: wide,
          y: Math.min(py(0), py(value)),
          height: Math.max(1, Math.abs(py(0) - py(value))),
          fill: soft ? "var(--muted)" : "var(--accent)",
          "fill-opacity": 0.6,
        }),
        wide >= 6 &&
          svg("line", {
            class: "interval",
            x1: x + wide / 2,
            x2: x + wide / 2,
            y1: py(low),
            y2: Math.min(py(high), py(low) - 1),
            stroke: "var(--ink)",
            "stroke-width": 2,
          }),
      );
    const thin = (right - left) / bins.length < NARROW_BAR;
    const edges = [
      ...bins.map(({ from, value, low, high }) => [from, value, low, high]),
      [
        bins[bins.length - 1].to,
        ...[0, 1, 2].map((at) => {
          const { value, low, high } = bins[bins.length - 1];
          return [value, low, high][at];
        }),
      ],
    ];
    const stepped = (/** @type {(each: number[]) => number} */ from, /** @type {(each: number[]) => number} */ to) =>
      area()
        .curve(curveStepAfter)
        .x((/** @type {number[]} */ each) => px(each[0]))
        .y0(from)
        .y1(to)(edges);
    const body = thin
      ? [
          svg("path", {
            class: "bar",
            d: stepped(
              () => py(0),
              (each) => py(each[1]),
            ),
            fill: "var(--accent)",
            "fill-opacity": 0.55,
          }),
          svg("path", {
            class: "interval",
            d: stepped(
              (each) => py(each[2]),
              (each) => py(each[3]),
            ),
            fill: "var(--ink)",
            "fill-opacity": 0.35,
          }),
        ]
      : bins.map((bin) => bar(px(bin.from) + 0.5, Math.max(1, px(bin.to) - px(bin.from) - 1), bin));
    return canvas(
      width,
      bottom + 46,
      label(measure, 0, 14, { class: "y-title", fill: "var(--muted)", most: width }),
      yTicks(down, left, width - 12),
      xTicks(across, bottom, bottom, beside.length > 0 ? right + 4 : width),
      svg("g", { class: "bars" }, body),
      beside.map((each, at) => [
        bar(right + GAP + at * slot + slot / 2 - 10, 20, each, true),
        label(each.label, right + GAP + at * slot + slot / 2, bottom + 18, {
          class: "x-tick",
          "text-anchor": "middle",
          fill: "var(--muted)",
          most: slot - 4,
        }),
      ]),
      svg("line", { x1: left, x2: width - 12, y1: py(0), y2: py(0), stroke: "var(--control)" }),
      label(title, right, bottom + 40, { class: "x-title", "text-anchor": "end", fill: "var(--muted)", most: right }),
    );
  };
