// Axes of charts: ticks with their grid lines and labels, and titles.

import { svg } from "../ui/element.js";
import { tickText } from "../ui/rounding.js";
import { scaleLinear, scaleLog, scaleTime, scaleUtc } from "../vendor/d3.js";
import { label, widthOf } from "./text.js";

/** @typedef {"linear" | "year" | "log" | "time" | "moment"} Kind dates without a time zone, or moments in the user's */
/** @typedef {{ scale: any, ticks: any[], text: (value: any) => string }} Axis */

const SCALES = { linear: scaleLinear, year: scaleLinear, log: scaleLog, time: scaleUtc, moment: scaleTime };
const DAY_MS = 86_400_000;
const TICK_PX = { x: 90, y: 48 };

/**
 * Return an axis over a domain of numbers, or of times for "time", with as many ticks as there is room for.
 * @param {Kind} kind
 * @param {[number, number]} domain
 * @param {[number, number]} range in pixels
 * @param {{ nice?: boolean, direction?: "x" | "y" }} [properties]
 * @returns {Axis}
 */
export function axis(kind, domain, range, { nice = false, direction = "x" } = {}) {
  const [low, high] = domain[0] === domain[1] ? [domain[0] - 1, domain[1] + 1] : domain;
  const timed = kind === "time" || kind === "moment";
  const scale = /** @type {any} */ (SCALES[kind]());
  scale.domain(timed ? [new Date(low), new Date(high)] : [low, high]).range(range);
  const most = Math.max(2, Math.floor(Math.abs(range[1] - range[0]) / TICK_PX[direction]));
  if (nice && kind !== "log") scale.nice(most);
  if (kind === "log") return { scale, ticks: powers(low, high, most), text: tickText };
  const ticks = thinned(scale.ticks(most), most + 1);
  if (kind === "year") return { scale, ticks: ticks.filter(Number.isInteger), text: String };
  return { scale, ticks, text: timed ? timeText(ticks, kind === "time" ? "UTC" : undefined) : tickText };
}

/** Return how ticks of time are written: as years, months, days or times of a day, by how far they are apart. */
function timeText(/** @type {Date[]} */ ticks, /** @type {string | undefined} */ timeZone) {
  const step = ticks.length > 1 ? Number(ticks[1]) - Number(ticks[0]) : DAY_MS;
  /** @type {Intl.DateTimeFormatOptions} */
  const parts =
    step >= 360 * DAY_MS
      ? { year: "numeric" }
      : step >= 27 * DAY_MS
        ? { month: "short", year: "numeric" }
        : step >= DAY_MS
          ? { day: "numeric", month: "short" }
          : { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(step < 60_000 && { second: "2-digit" }) };
  const format = new Intl.DateTimeFormat("en-GB", { ...parts, timeZone });
  return (/** @type {Date} */ tick) => format.format(tick);
}

/** Return the powers of ten within a domain, at most so many. */
function powers(/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ most) {
  const all = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power += 1)
    all.push(Number(`1e${power}`));
  return thinned(all, most);
}

const thinned = (/** @type {any[]} */ all, /** @type {number} */ most) => {
  const every = Math.ceil(all.length / most);
  return all.filter((_, at) => at % every === 0);
};

/**
 * Return the ticks of a horizontal axis at `y`, their grid lines going up to `top`; no label leaves a picture of `width`.
 * @param {Axis} axis
 * @param {number} y
 * @param {number} top
 * @param {number} width
 */
export function xTicks({ scale, ticks, text }, y, top, width) {
  return svg(
    "g",
    { class: "x-axis" },
    ticks.map((tick) => {
      const at = scale(tick);
      const half = widthOf(text(tick)) / 2;
      return [
        svg("line", { x1: at, x2: at, y1: top, y2: y, stroke: "var(--line)" }),
        label(text(tick), Math.max(half, Math.min(width - half, at)), y + 18, {
          class: "x-tick",
          "text-anchor": "middle",
          fill: "var(--muted)",
        }),
      ];
    }),
  );
}

/** Return the ticks of a vertical axis at `x`, their grid lines going to `right`. */
export const yTicks = (
  /** @type {Axis} */ { scale, ticks, text },
  /** @type {number} */ x,
  /** @type {number} */ right,
) =>
  svg(
    "g",
    { class: "y-axis" },
    ticks.map((tick) => [
      svg("line", { x1: x, x2: right, y1: scale(tick), y2: scale(tick), stroke: "var(--line)" }),
      label(text(tick), x - 8, scale(tick) + 4, { class: "y-tick", "text-anchor": "end", fill: "var(--muted)" }),
    ]),
  );

/** Return how much room the labels of a vertical axis need. */
export const yRoom = (/** @type {Axis} */ { ticks, text }) =>
  Math.ceil(Math.max(0, ...ticks.map((tick) => widthOf(text(tick))))) + 10;
