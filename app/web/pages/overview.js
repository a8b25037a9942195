// The page of a dataset: its public facts, its budget, and what was spent, when and by whom.

import { get, listed, path } from "../api.js";
import { spending } from "../charts/spending.js";
import { askForBudget } from "../forms/budget_request.js";
import { ownRequests } from "../forms/request_list.js";
import { columnsCard } from "../ui/columns_card.js";
import { badge, card, fill, h, help, lines, notice, term } from "../ui/dom.js";
import { count, number, people, person, time } from "../ui/format.js";
import { verified } from "../ui/hash_chain.js";
import { gauges } from "./datasets.js";

/** Return what was spent: by everybody if the user may see all allowances, and else by the user. */
async function spent(name, me, budget) {
  if (budget.allowances !== undefined) {
    const { items, complete } = await listed(`${path("datasets", name)}/ledger`, "entries");
    const named = people(budget);
    const debits = items
      .filter(({ kind }) => kind === "debit" || kind === "write_off")
      .map((debit) => ({ ...debit, principal: named(debit.principal) }));
    return spending("What was spent, when and by whom", debits, budget.epsilon_limit, complete);
  }
  const { items, complete } = await listed("/releases", "releases", 100);
  const own = items
    .filter(({ dataset }) => dataset === name)
    .map((release) => ({
      principal: person(me.name, me.display_name),
      at: release.created_at,
      epsilon: release.budget.charged,
    }));
  return spending("What you spent, and when", own, budget.allowance?.epsilon_limit, complete);
}

/** Return what waits for the owner, and how the ledger stands; for those who oversee the dataset. */
async function oversight(name, me, budget) {
  if (budget.allowances === undefined) return null;
  const { latest } = await get(`${path("datasets", name)}/ledger/verification/latest`);
  const rules = `#${path("datasets", name, "rules")}`;
  return [
    budget.open_requests > 0 &&
      me.role !== "auditor" &&
      notice(
        "info",
        h(
          "a",
          { href: rules },
          `${count(budget.open_requests, "request")} for budget ${budget.open_requests === 1 ? "waits" : "wait"} for an answer`,
        ),
      ),
    budget.allowances.length === 0 &&
      me.role !== "auditor" &&
      notice("info", "Nobody can see this dataset yet. ", h("a", { href: rules }, "Grant an allowance")),
    latest !== null &&
      !latest.valid &&
      notice(
        "bad",
        "This ledger is not valid. ",
        h("a", { href: `#${path("datasets", name, "ledger")}` }, "See what does not match"),
      ),
  ];
}

/** Return the budget with what the user may do about it: ask for more. */
function budgetCard(name, budget, latest, asked) {
  const open = asked.some(({ state }) => state === "open");
  const ask = h(
    "button",
    {
      type: "button",
      class: "quiet small",
      click: async () => {
        const made = await askForBudget(name, budget.allowance);
        if (made) asked.push(made);
        if (made) fill(requests, ownRequests(asked));
        ask.hidden = ask.hidden || made !== undefined;
      },
    },
    "Ask for more",
  );
  ask.hidden = open;
  const requests = h("div", {}, ownRequests(asked));
  return [
    card(
      ["Budget ", help("budget")],
      [gauges(budget), latest !== undefined && h("p", { class: "muted" }, "Ledger: ", verified(latest))],
      { aside: budget.allowance && budget.allowances === undefined && ask },
    ),
    requests,
  ];
}

export async function overview(name, me, budget) {
  const at = path("datasets", name);
  const oversees = budget.allowances !== undefined;
  const [dataset, chart, notices, latest, asked] = await Promise.all([
    get(at),
    spent(name, me, budget),
    oversight(name, me, budget),
    oversees ? get(`${at}/ledger/verification/latest`) : undefined,
    oversees ? { items: [] } : listed(`${at}/budget-requests`, "budget_requests"),
  ]);
  return {
    lead: dataset.description,
    badge: dataset.state !== "open" && badge(dataset.state, "warn"),
    content: [
      dataset.state === "closed" &&
        notice("warn", "This dataset is closed: its data is deleted. What was released stays readable."),
      dataset.state === "stale" &&
        notice(
          "warn",
          "The live table has changed since it was registered: nothing new can be released until its owner has checked it.",
        ),
      dataset.warning && notice("warn", dataset.warning),
      notices,
      h(
        "div",
        { class: "split" },
        h("div", {}, budgetCard(name, budget, latest?.latest, asked.items)),
        card(
          "Table",
          lines([
            ["Rows", number(dataset.n)],
            [term("neighbours", "Protected"), `the values in ${count(dataset.rows_per_unit, "row")}`],
            ["Registered", time(dataset.created_at)],
            ["Succeeds", dataset.succeeds],
          ]),
        ),
      ),
      chart,
      columnsCard(dataset.columns),
    ],
  };
}
