// Saves a chart as PNG or SVG, and its figures as CSV.

import { h } from "../ui/element.js";
import { saveFile } from "../ui/save_file.js";
import { pictureOf } from "./charts.js";

const SCALE = 2; // pixels of a PNG for one of the page
const PADDING = 16;

/** Return a chart as a document of its own: with a background, a font, and colours in place of the page's tokens. */
function standalone(/** @type {SVGSVGElement} */ shown) {
  const copy = /** @type {SVGSVGElement} */ (shown.cloneNode(true));
  const [width, height] = ["width", "height"].map((name) => Number(shown.getAttribute(name)) + 2 * PADDING);
  copy.setAttribute("viewBox", `${-PADDING} ${-PADDING} ${width} ${height}`);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("font-family", "system-ui, sans-serif");
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const text = new XMLSerializer()
    .serializeToString(copy)
    .replaceAll(/var\((--[a-z0-9-]+)\)/g, (_, name) => colour(name));
  const ground = `<rect x="${-PADDING}" y="${-PADDING}" width="${width}" height="${height}" fill="${colour("--surface")}"/>`;
  return { text: text.replace(/>/, `>${ground}`), width, height };
}

/** Save the picture of a chart as SVG. */
export function saveSvg(/** @type {Element} */ chart, /** @type {string} */ name) {
  const shown = pictureOf(chart);
  if (shown) saveFile(new Blob([standalone(shown).text], { type: "image/svg+xml" }), `${name}.svg`);
}

/** Save the picture of a chart as PNG, twice as fine as on the page. */
export async function savePng(/** @type {Element} */ chart, /** @type {string} */ name) {
  const shown = pictureOf(chart);
  if (!shown) return;
  const { text, width, height } = standalone(shown);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const paper = h("canvas", { width: width * SCALE, height: height * SCALE });
  const pen = /** @type {CanvasRenderingContext2D} */ (paper.getContext("2d"));
  pen.drawImage(image, 0, 0, paper.width, paper.height);
  paper.toBlob((content) => content && saveFile(content, `${name}.png`), "image/png");
}

/** Return a value as a field of CSV; a text that a spreadsheet would compute begins with an apostrophe. */
function csvField(/** @type {unknown} */ value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Return rows of values as CSV (RFC 4180). */
export const csvOf = (/** @type {unknown[][]} */ rows) =>
  rows
    .map((row) => row.map(csvField).join(","))
    .join("\r\n")
    .concat("\r\n");

/** Save rows as CSV. */
export const saveCsv = (/** @type {unknown[][]} */ rows, /** @type {string} */ name) =>
  saveFile(new Blob([csvOf(rows)], { type: "text/csv;charset=utf-8" }), `${name}.csv`);
