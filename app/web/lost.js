// Where the answer to an earlier request was lost: ask for it again, by its key.

import { h } from "./dom.js";
import { forget, pending } from "./release.js";

/** A notice for each lost answer of a dataset `to` this part of the interface; `named` tells what was asked. */
export function lost(dataset, to, named, again) {
  return pending().filter((request) => request.dataset === dataset && request.to === to).map((request) => {
    const notice = h("div", { class: "notice" },
      h("p", {}, "The answer to this release was lost: ", named(request.body), ". Ask for it again: you never pay twice."),
      h("div", { class: "buttons" },
        h("button", { type: "button", click: () => { notice.remove(); again(request.body); } }, "Ask for it again"),
        h("button", { type: "button", class: "quiet", click: () => { forget(request); notice.remove(); } }, "Dismiss")));
    return notice;
  });
}
