// Saves content as a file of the browser.

import { h } from "./element.js";

const KEPT_MS = 10_000; // until the browser has read it

/** Save content under a name. */
export function saveFile(/** @type {Blob} */ content, /** @type {string} */ name) {
  const address = URL.createObjectURL(content);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
