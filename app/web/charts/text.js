// Measures, cuts and places the texts of charts.

import { svg } from "../ui/element.js";

const SIZE = 13;
const measure = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

/** Return how wide a text is in a chart, in pixels. */
export function widthOf(/** @type {string} */ text, size = SIZE) {
  measure.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return measure.measureText(text).width;
}

/** Return a text on one line, cut to a width with "…" if it is longer. */
export function cut(/** @type {string} */ text, /** @type {number} */ most) {
  const line = text.replaceAll("\n", " ");
  if (widthOf(line) <= most) return line;
  const signs = [...line];
  let [fits, beyond] = [0, signs.length];
  while (fits < beyond - 1) {
    const middle = (fits + beyond) >> 1;
    if (widthOf(`${signs.slice(0, middle).join("")}…`) <= most) fits = middle;
    else beyond = middle;
  }
  return `${signs.slice(0, fits).join("").trimEnd()}…`;
}

/**
 * Return a text of a chart; where it is cut to `most` pixels, its tooltip has the whole.
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {import("../ui/element.js").Properties & { most?: number }} [properties]
 */
export function label(text, x, y, { most = Infinity, ...properties } = {}) {
  const shown = cut(text, most);
  return svg("text", { x, y, ...properties }, shown, shown !== text && svg("title", {}, text));
}
