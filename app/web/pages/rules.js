// The page where a dataset's owner answers requests, sets allowances and the dataset's limit, and closes the dataset.

import { get, path } from "../api.js";
import { grantAllowance, revokeAllowance } from "../forms/allowance.js";
import { changeLimit, closeDataset, revalidate } from "../forms/dataset_limit.js";
import { budgetRequests, openRequests } from "../forms/request_list.js";
import { gauge, windowNote } from "../ui/budget_gauge.js";
import { alertOf, badge, card, empty, fill, h, help, longList, notice, toast } from "../ui/dom.js";
import { person } from "../ui/format.js";

const quiet = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ click) =>
  h("button", { type: "button", class: "quiet small", "aria-label": label, click }, text);

function allowanceItem(
  /** @type {any} */ given,
  /** @type {(act: () => Promise<any>) => () => void} */ doing,
  /** @type {string} */ name,
) {
  const who = person(given.principal, given.display_name);
  const change = doing(() => grantAllowance({ dataset: name, principal: given.principal, current: given }));
  return h(
    "li",
    { class: "item" },
    gauge(who, given, given.revoked ? badge("Revoked: no access.", "warn") : windowNote(given.window)),
    h(
      "div",
      { class: "buttons" },
      quiet(
        given.revoked ? "Renew" : "Change",
        `${given.revoked ? "Renew" : "Change"} the allowance of ${given.principal}`,
        change,
      ),
      !given.revoked &&
        quiet(
          "Revoke",
          `Revoke the allowance of ${given.principal}`,
          doing(() => revokeAllowance(name, given)),
        ),
    ),
  );
}

export async function rules(/** @type {string} */ name, /** @type {any} */ me, /** @type {any} */ given) {
  const at = path("datasets", name);
  const place = h("div");
  const trouble = h("div");

  /** Return a listener that does an act and then shows the page as it is. */
  const doing = (/** @type {() => Promise<any>} */ act) => async () => {
    fill(trouble);
    try {
      if (await act()) await load();
    } catch (error) {
      fill(trouble, alertOf(error));
    }
  };
  async function load(budget = get(`${at}/budget`)) {
    const [found, dataset, requests] = await Promise.all([budget, get(at), openRequests(name)]);
    fill(place, content(found, dataset, requests));
  }
  function content(/** @type {any} */ budget, /** @type {any} */ dataset, /** @type {any[] | null} */ requests) {
    const closed = dataset.state === "closed";
    const grant = doing(() => grantAllowance({ dataset: name }));
    const own =
      budget.allowance === null &&
      !closed &&
      h(
        "button",
        {
          type: "button",
          class: "quiet small",
          click: doing(() =>
            grantAllowance({ dataset: name, principal: me.name, question: "Grant yourself an allowance" }),
          ),
        },
        "Grant yourself one",
      );
    return [
      requests && budgetRequests(name, requests, budget, doing),
      card(
        ["Allowances ", help("allowance")],
        [
          budget.allowances.length === 0
            ? empty(
                "Nobody has an allowance yet",
                "An allowance lets a principal see the dataset, and spend up to a limit on it.",
              )
            : longList({
                items: budget.allowances,
                noun: "allowance",
                step: 10,
                textOf: (each) => `${each.principal} ${each.display_name ?? ""}`,
                render: (shown) =>
                  h(
                    "ul",
                    { class: "plain" },
                    shown.map((each) => allowanceItem(each, doing, name)),
                  ),
              }),
        ],
        {
          aside:
            !closed &&
            h(
              "div",
              { class: "buttons" },
              own,
              h("button", { type: "button", class: "small", click: grant }, "Grant an allowance"),
            ),
        },
      ),
      card(
        ["The dataset's limit ", help("budget")],
        gauge(
          "All releases together",
          budget,
          "The limit is never renewed: it holds for as long as the dataset lasts.",
        ),
        {
          aside:
            !closed &&
            h(
              "button",
              { type: "button", class: "quiet small", click: doing(() => changeLimit(name, budget)) },
              "Change the limit",
            ),
        },
      ),
      dataset.state === "stale" &&
        card("The live table has changed", [
          h(
            "p",
            {},
            "Nothing new can be released. If rows, types and units are again as they were registered, the dataset opens.",
          ),
          h(
            "button",
            {
              type: "button",
              class: "quiet",
              click: doing(async () => {
                await revalidate(name);
                toast("The dataset is open again.");
                return true;
              }),
            },
            "Check the table again",
          ),
        ]),
      closed
        ? notice("warn", "This dataset is closed: its data is deleted. What was released stays readable.")
        : card("Close the dataset", [
            h("p", {}, "Deletes the data for good. Releases and the ledger stay readable, and the name stays taken."),
            h(
              "button",
              { type: "button", class: "danger", click: doing(() => closeDataset(name)) },
              "Close the dataset",
            ),
          ]),
    ];
  }
  await load(given);
  return { lead: "Who may spend how much, and what all may spend together.", content: [trouble, place] };
}
