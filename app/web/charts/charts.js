// The frame of every chart: an SVG drawn for the width that its container has, and again whenever that changes.

import { fill, h, svg } from "../ui/element.js";
import { isRehearsed, markPicture } from "./rehearsal.js";

/** @typedef {(width: number) => SVGSVGElement} Draw */

/** @type {WeakMap<Element, { draw: Draw, width: number }>} */
const drawings = new WeakMap();

const follower = new ResizeObserver((entries) => {
  for (const {
    target,
    contentRect: { width },
  } of entries) {
    const drawn = (drawings.get(target)?.width ?? 0) > 0; // a chart is made before it is put into the page
    if (!target.isConnected && drawn) follower.unobserve(target);
    else if (Math.round(width) > 0) drawAt(/** @type {HTMLElement} */ (target), Math.round(width));
  }
});

function drawAt(/** @type {HTMLElement} */ element, /** @type {number} */ width) {
  const drawing = drawings.get(element);
  if (!drawing || drawing.width === width) return;
  drawing.width = width;
  const picture = drawing.draw(width);
  if (isRehearsed(element)) markPicture(picture);
  fill(element, picture);
  if (element.scrollWidth > element.clientWidth + 1)
    element.setAttribute("tabindex", "0"); // wider than its box: scrolls
  else element.removeAttribute("tabindex");
}

/** Return an empty chart. A screen reader reads its `summary`; show the figures in a table too. */
export const chart = (/** @type {string} */ summary) =>
  h("div", { class: "chart", role: "img", "aria-label": summary });

/** Draw into a chart, in place of what it shows: `make` returns the picture for a width, and is called at each new one. */
export function draw(/** @type {HTMLElement} */ element, /** @type {Draw} */ make) {
  drawings.set(element, { draw: make, width: 0 });
  if (element.isConnected && element.clientWidth > 0) drawAt(element, element.clientWidth);
  follower.observe(element);
}

/** Return the picture that a chart shows. */
export const pictureOf = (/** @type {Element} */ element) =>
  /** @type {SVGSVGElement | null} */ (element.querySelector("svg"));

/**
 * Return an SVG of a size in pixels.
 * @param {number} width
 * @param {number} height
 * @param {...import("../ui/element.js").Content} children
 */
export const canvas = (width, height, ...children) =>
  svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": 13, fill: "var(--ink)" }, children);
