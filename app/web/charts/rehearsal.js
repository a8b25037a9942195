// What marks an answer of made-up data: a notice, a text across its pictures, a column of its figures.

import { h, notice, svg } from "../ui/dom.js";

/** @typedef {{ rehearsed?: boolean }} Answer an answer as the API gives it */

export const REHEARSAL = "Rehearsal with made-up data";

const REHEARSED = "rehearsed"; // marks a card, and names the column

/** Return the card of an answer; that of a rehearsal says so, and so does each picture in it. */
export function answerCard(
  /** @type {Answer} */ { rehearsed },
  /** @type {import("../ui/element.js").Content[]} */ ...content
) {
  const card = h("section", { class: "card result" }, content);
  if (!rehearsed) return card;
  card.dataset[REHEARSED] = "true";
  card.prepend(
    notice(
      "warn",
      h("strong", {}, `${REHEARSAL}. `),
      "The numbers say nothing about the table. Nothing is charged, and nothing is stored.",
    ),
  );
  return card;
}

/** Return whether an element is in the card of a rehearsal. */
export const isRehearsed = (/** @type {Element} */ element) => element.closest(`[data-${REHEARSED}]`) !== null;

const LOW = 100; // pixels: a lower picture has the text at its corner, where nothing is drawn

/** Write in a picture that it shows made-up data; it is saved with it. */
export function markPicture(/** @type {SVGSVGElement} */ picture) {
  const [width, height] = ["width", "height"].map((name) => Number(picture.getAttribute(name)));
  const place =
    height < LOW
      ? { x: width, y: 12, "text-anchor": "end", "font-size": 12, opacity: 0.7 }
      : { x: width / 2, y: height / 2, "text-anchor": "middle", "font-size": 28, opacity: 0.3 };
  picture.append(svg("text", { ...place, fill: "var(--ink)" }, "Made-up data"));
}

/** Return the exact figures, with a column that marks those of a rehearsal. */
export const markRows = (/** @type {unknown[][]} */ [names, ...rows], /** @type {Answer} */ { rehearsed }) =>
  rehearsed ? [[...names, REHEARSED], ...rows.map((row) => [...row, "true"])] : [names, ...rows];

/** Return the members that let a program rehearse too. */
export const asRehearsal = (/** @type {Answer} */ { rehearsed }) => (rehearsed ? { rehearse: true } : {});
