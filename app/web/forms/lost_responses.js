// Notices about lost responses, with a button to send the request again with the same key.

import { forget, pending } from "../release_requests.js";
import { h } from "../ui/dom.js";

/** Return a notice for each lost response of a dataset from the path `to`; `named` describes a request. */
export function lostResponses(dataset, to, named, again) {
  return pending()
    .filter((request) => request.dataset === dataset && request.to === to)
    .map((request) => {
      const notice = h(
        "div",
        { class: "notice" },
        h(
          "p",
          {},
          "The answer to this release was lost: ",
          named(request.body),
          ". Ask for it again: you never pay twice.",
        ),
        h(
          "div",
          { class: "buttons" },
          h(
            "button",
            {
              type: "button",
              click: () => {
                notice.remove();
                again(request.body);
              },
            },
            "Ask for it again",
          ),
          h(
            "button",
            {
              type: "button",
              class: "quiet",
              click: () => {
                forget(request);
                notice.remove();
              },
            },
            "Dismiss",
          ),
        ),
      );
      return notice;
    });
}
