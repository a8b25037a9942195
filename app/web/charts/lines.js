// Lines over an axis of numbers or times, with bands around them, and points.

import { svg } from "../ui/element.js";
import { area, curveLinear, curveStepAfter, line } from "../vendor/d3.js";
import { axis, xTicks, yRoom, yTicks } from "./axes.js";
import { canvas } from "./charts.js";
import { label, widthOf } from "./text.js";

/**
 * @typedef {{ name: string, color: string, points?: [number, number][], band?: [number, number, number][], dash?: string,
 *   thick?: number, steps?: boolean, dots?: boolean, mark?: "circle" | "triangle", quiet?: boolean }} Series
 * a line through `points`, a band of [x, low, high], or only marks; a quiet one is not in the legend
 * @typedef {{ kind?: import("./axes.js").Kind, title: string, domain?: [number, number], zero?: boolean }} AxisOf
 * @typedef {{ x: AxisOf, y: AxisOf, series: Series[], height?: number, tip?: (x: number, y: number, name: string) => string }} Lines
 */

const MARGIN = { right: 16, bottom: 46, top: 30 };
const LEGEND_LINE = 22;
const MOST_MARKS = 60; // more have no tooltip each

/** Return the least and the largest of an axis' values. */
function domainOf(/** @type {AxisOf} */ { domain, kind, zero }, /** @type {number[]} */ values) {
  if (domain) return domain;
  const known = values.filter((value) => Number.isFinite(value) && (kind !== "log" || value > 0));
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  const high = known.reduce((most, value) => Math.max(most, value), -Infinity);
  if (low > high) return /** @type {[number, number]} */ (kind === "log" ? [1, 10] : [0, 1]);
  if (low === high && kind === "log") return /** @type {[number, number]} */ ([low / 2, high * 2]);
  return /** @type {[number, number]} */ (zero ? [Math.min(0, low), Math.max(0, high)] : [low, high]);
}

/** Return the legend in as many lines as it needs, and its height. */
function legend(/** @type {Series[]} */ series, /** @type {number} */ width) {
  const shown = series.filter(({ quiet }) => !quiet);
  if (shown.length < 2) return { element: null, height: 0 };
  let [x, row] = [0, 0];
  const items = shown.map(({ name, color, dash, points, mark, band }) => {
    const room = Math.min(widthOf(name), width - 32) + 48;
    if (x > 0 && x + room - 16 > width) [x, row] = [0, row + 1];
    const y = row * LEGEND_LINE + 10;
    const sample = mark
      ? markAt(mark, x + 12, y, color)
      : band && !points
        ? svg("rect", { x, y: y - 5, width: 24, height: 10, fill: color, "fill-opacity": 0.25 })
        : svg("line", {
            x1: x,
            x2: x + 24,
            y1: y,
            y2: y,
            stroke: color,
            "stroke-width": 2.5,
            "stroke-dasharray": dash,
          });
    const item = [sample, label(name, x + 32, y + 4, { class: "legend-text", most: width - 32 })];
    x += room;
    return item;
  });
  return { element: svg("g", {}, items), height: (row + 1) * LEGEND_LINE + 4 };
}

function markAt(
  /** @type {"circle" | "triangle"} */ kind,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {string} */ color,
  /** @type {string} */ tip = "",
) {
  const title = tip && svg("title", {}, tip);
  if (kind === "triangle") return svg("path", { d: `M${x},${y - 5}l5,9h-10z`, fill: color }, title);
  return svg("circle", { cx: x, cy: y, r: 5, fill: "var(--surface)", stroke: color, "stroke-width": 2.5 }, title);
}

/** Return the drawing of lines for a chart. */
export const lines =
  (/** @type {Lines} */ { x, y, series, height: plotHeight = 260, tip = (at, value) => `${at}: ${value}` }) =>
  (/** @type {number} */ width) => {
    const all = series.flatMap(({ points = [], band = [] }) => [
      ...points,
      ...band.flatMap(
        ([at, low, high]) =>
          /** @type {[number, number][]} */ ([
            [at, low],
            [at, high],
          ]),
      ),
    ]);
    const key = legend(series, width);
    const top = key.height + MARGIN.top;
    const bottom = top + plotHeight;
    const down = axis(
      y.kind ?? "linear",
      domainOf(
        y,
        all.map(([, value]) => value),
      ),
      [bottom, top],
      { nice: true, direction: "y" },
    );
    const left = yRoom(down);
    const across = axis(
      x.kind ?? "linear",
      domainOf(
        x,
        all.map(([at]) => at),
      ),
      [left, width - MARGIN.right],
    );
    const [px, py] = [across.scale, down.scale];
    const shapes = series.map(({ name, color, points = [], band, dash, thick = 2, steps, dots, mark }) => [
      band &&
        svg("path", {
          class: "band",
          fill: color,
          "fill-opacity": 0.18,
          d: area()
            .curve(steps ? curveStepAfter : curveLinear)
            .x((/** @type {number[]} */ each) => px(each[0]))
            .y0((/** @type {number[]} */ each) => py(each[1]))
            .y1((/** @type {number[]} */ each) => py(each[2]))(band),
        }),
      !mark &&
        points.length > 0 &&
        svg("path", {
          class: "line",
          fill: "none",
          stroke: color,
          "stroke-width": thick,
          "stroke-dasharray": dash,
          "stroke-linejoin": "round",
          d: line()
            .curve(steps ? curveStepAfter : curveLinear)
            .x((/** @type {number[]} */ each) => px(each[0]))
            .y((/** @type {number[]} */ each) => py(each[1]))(points),
        }),
      (mark || (dots && points.length <= MOST_MARKS)) &&
        points.map(([at, value]) => markAt(mark ?? "circle", px(at), py(value), color, tip(at, value, name))),
    ]);
    return canvas(
      width,
      bottom + MARGIN.bottom,
      key.element,
      label(y.title, 0, key.height + 14, { class: "y-title", fill: "var(--muted)", most: width }),
      yTicks(down, left, width - MARGIN.right),
      xTicks(across, bottom, top, width),
      svg("line", { x1: left, x2: width - MARGIN.right, y1: bottom, y2: bottom, stroke: "var(--control)" }),
      shapes,
      x.title &&
        label(x.title, width - MARGIN.right, bottom + 40, {
          class: "x-title",
          "text-anchor": "end",
          fill: "var(--muted)",
          most: width - MARGIN.right,
        }),
    );
  };
