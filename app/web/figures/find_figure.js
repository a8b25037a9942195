// Finds a figure in the list of what the user may see, which also tells who else may see it.

import { get } from "../api.js";
import { isFigureName } from "./names.js";

const MOST = 100; // names and titles with the same text, from the first name that can be it

/**
 * Return the latest version of a figure as the list has it, or null if it is not there.
 * @param {import("./addresses.js").Named} named
 */
export async function findFigure({ dataset, figure }) {
  if (!isFigureName(figure)) return null;
  const before = figure.slice(0, -1); // sorts before the name itself
  const after = before === "" ? "" : `&after=${encodeURIComponent(`${dataset}/${before}`)}`;
  const { figures } = await get(`/figures?limit=${MOST}&search=${encodeURIComponent(figure)}${after}`);
  const isIt = (/** @type {any} */ each) => each.dataset === dataset && each.figure === figure;
  return figures.find(isIt) ?? null;
}
