// Requests for budget: those that wait, with buttons for the owner, and earlier ones with their answers.

import { get, listed, path } from "../api.js";
import { cancelPrevious } from "../ui/debounce.js";
import { alertOf, badge, card, field, fill, h, help, longList, select } from "../ui/dom.js";
import { ago, costText, person } from "../ui/format.js";
import { declineRequest, grantRequest } from "./budget_request.js";

/** How a request stands, in a word. @type {Record<string, ["good" | "warn" | "bad" | "accent" | undefined, string]>} */
const STATES = {
  open: ["accent", "waits for an answer"],
  granted: ["good", "granted"],
  declined: ["warn", "declined"],
};

/** Return a request with its reason and its answer; `buttons` are for who may answer it. */
function requestItem(/** @type {any} */ request, /** @type {boolean} */ named, /** @type {any} */ buttons) {
  const [kind, word] = STATES[request.state];
  const part = request.granted !== null && request.granted !== request.epsilon && ` (ε ${costText(request.granted)})`;
  return h(
    "li",
    {},
    h(
      "p",
      { class: "row between" },
      h(
        "span",
        {},
        named && h("strong", {}, person(request.principal, request.display_name), " "),
        `asked for ε ${costText(request.epsilon)} more, `,
        ago(request.created_at),
      ),
      badge([word, part], kind),
    ),
    h("blockquote", {}, request.reason),
    request.state !== "open" &&
      h(
        "p",
        { class: "muted" },
        request.answer !== null && [`“${request.answer}” `],
        `— ${request.answered_by}, `,
        ago(request.answered_at),
      ),
    buttons && h("div", { class: "buttons" }, buttons),
  );
}

const list = (/** @type {any[]} */ requests, /** @type {boolean} */ named) =>
  longList({
    items: requests.toReversed(),
    noun: "request",
    step: 10,
    textOf: (request) => `${request.principal} ${request.display_name ?? ""} ${request.reason} ${request.state}`,
    render: (shown) =>
      h(
        "ul",
        { class: "plain" },
        shown.map((request) => requestItem(request, named, null)),
      ),
  });

/** Return the requests of a dataset that wait for an answer; null if nobody has ever made one. */
export async function openRequests(/** @type {string} */ dataset) {
  const at = `${path("datasets", dataset)}/budget-requests`;
  const { items } = await listed(`${at}?state=open`, "budget_requests");
  return items.length > 0 || (await get(`${at}?limit=1`)).budget_requests.length > 0 ? items : null;
}

/** Return a fold with the answered requests of a dataset, which are loaded when it is opened. */
function earlierRequests(/** @type {string} */ dataset) {
  const place = h("div");
  const state = select(
    [
      ["granted", "granted"],
      ["declined", "declined"],
    ],
    "granted",
    { change: () => load() },
  );
  const load = cancelPrevious(async (/** @type {AbortSignal} */ signal) => {
    const shown = state.value;
    try {
      const { items } = await listed(`${path("datasets", dataset)}/budget-requests?state=${shown}`, "budget_requests");
      if (signal.aborted) return;
      fill(place, items.length === 0 ? h("p", { class: "muted" }, `No request was ${shown}.`) : list(items, true));
    } catch (error) {
      if (!signal.aborted) fill(place, alertOf(error));
    }
  });
  return h(
    "details",
    { toggle: (/** @type {any} */ { target }) => target.open && load() },
    h("summary", {}, "Earlier requests"),
    field("Show those that were", state),
    place,
  );
}

/**
 * Return the requests for budget of a dataset for its owner.
 * @param {string} dataset
 * @param {any[]} open those that wait for an answer
 * @param {any} budget
 * @param {(act: () => Promise<any>) => () => void} doing a listener that does an act and shows the page anew
 */
export function budgetRequests(dataset, open, budget, doing) {
  const allowance = (/** @type {any} */ { principal }) =>
    budget.allowances.find((/** @type {any} */ each) => each.principal === principal);
  const buttons = (/** @type {any} */ request) => [
    h(
      "button",
      {
        type: "button",
        class: "small",
        "aria-label": `Grant the request of ${request.principal}`,
        click: doing(() => grantRequest(request, allowance(request))),
      },
      "Grant …",
    ),
    h(
      "button",
      {
        type: "button",
        class: "quiet small",
        "aria-label": `Decline the request of ${request.principal}`,
        click: doing(() => declineRequest(request)),
      },
      "Decline …",
    ),
  ];
  return card(
    ["Requests for budget ", help("budget request")],
    [
      open.length === 0
        ? h("p", { class: "muted" }, "No request waits for an answer.")
        : h(
            "ul",
            { class: "plain" },
            open.map((request) => requestItem(request, true, buttons(request))),
          ),
      earlierRequests(dataset),
    ],
  );
}

/** Return the caller's own requests; null if there are none. */
export const ownRequests = (/** @type {any[]} */ requests) =>
  requests.length === 0 ? null : card(["Your requests for budget ", help("budget request")], list(requests, false));
