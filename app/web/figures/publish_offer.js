// The offer to publish an answer, beside what else can be taken away from it. Its form is loaded when it is wanted.

import { alertOf, fill, h } from "../ui/dom.js";

/** @typedef {import("./publish_form.js").Answer} Answer */

/** Return the button of the offer, and the place where it shows what was published. */
export function publishOffer(/** @type {Answer} */ answer, text = "Publish as figure") {
  const place = h("div");
  const publish = async () => {
    try {
      const { publishAnswer, shownPublication } = await import("./publish_form.js");
      const published = await publishAnswer(answer);
      if (published === undefined) return;
      fill(place, shownPublication(published));
      place.querySelector("h3")?.focus();
    } catch (error) {
      fill(place, alertOf(error));
    }
  };
  return { place, button: h("button", { type: "button", class: "quiet small", click: publish }, text) };
}
