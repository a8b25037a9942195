// What its publisher may do with a figure: publish it with another title, note or audience, and withdraw it.

import { call } from "../api.js";
import { confirmThenSend } from "../forms/confirm_then_send.js";
import { h, toast } from "../ui/dom.js";
import { figurePath } from "./addresses.js";

/** Say what withdrawing does, and withdraw a figure. */
async function withdraw(/** @type {any} */ latest) {
  const done = await confirmThenSend(
    {
      question: `Withdraw ${latest.figure}?`,
      action: "Withdraw",
      harmful: true,
      content: h(
        "ul",
        {},
        h("li", {}, "Its page, its files and its pictures are gone for everybody, in all versions."),
        h("li", {}, "Whoever has saved it keeps what they saved. The releases stay."),
        h(
          "li",
          {},
          "It can be published again under the same name, as a new version; the earlier ones stay withdrawn.",
        ),
      ),
    },
    () => call("DELETE", figurePath(latest)),
  );
  if (done === undefined) return;
  toast(`${latest.figure} is withdrawn.`);
  location.hash = "#/figures";
}

/** Publish what a figure shows with another title, note or audience. */
async function change(/** @type {any} */ latest, /** @type {import("./publisher.js").Publisher} */ publisher) {
  const { publishAnswer } = await import("./publish_form.js");
  const { dataset, source, title } = latest;
  return publishAnswer({ dataset, source, title, publisher }, latest);
}

/**
 * Return the buttons of a figure's publisher; `reload` shows the page anew.
 * @param {any} latest
 * @param {import("./publisher.js").Publisher} publisher
 * @param {() => void} reload
 */
export const changeActions = (latest, publisher, reload) => [
  h(
    "button",
    {
      type: "button",
      class: "quiet",
      click: async () => {
        if (await change(latest, publisher)) reload();
      },
    },
    "Change",
  ),
  h("button", { type: "button", class: "quiet", click: () => withdraw(latest) }, "Withdraw"),
];
