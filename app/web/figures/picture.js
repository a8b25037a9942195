// A figure's chart as the service draws it. It is loaded when it comes near the window, with the key of this tab.

import { fetchFile } from "../api.js";
import { fill, h } from "../ui/element.js";
import { pageAddress } from "./addresses.js";

/** @typedef {import("./addresses.js").Named & { title: string }} Figure */

const NEAR = "300px";

/** @type {WeakMap<Element, Figure>} */
const waiting = new WeakMap();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const figure = waiting.get(target);
      if (!isIntersecting || !figure) continue;
      watcher.unobserve(target);
      load(target, figure);
    }
  },
  { rootMargin: NEAR },
);

async function load(/** @type {Element} */ place, /** @type {Figure} */ figure) {
  try {
    const drawn = await (await fetchFile(pageAddress(figure, ".svg"))).text();
    const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn)}`; // an image runs no script
    fill(place, h("img", { src, alt: `Chart of ${figure.title}` }));
  } catch {
    fill(place, h("p", { class: "muted" }, "Its chart could not be loaded."));
  }
}

/** Return the place of a figure's chart. */
export function picture(/** @type {Figure} */ figure) {
  const place = h("div", { class: "preview" });
  waiting.set(place, figure);
  watcher.observe(place);
  return place;
}
