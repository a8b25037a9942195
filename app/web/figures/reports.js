// The reports of a dataset, read only: what a run costs, and what each run has done. Plan and runs are loaded when a
// report is opened.

import { call, get, path } from "../api.js";
import { alertOf, badge, card, fill, h, lines, skeleton, table } from "../ui/dom.js";
import { costText, leftText, time } from "../ui/format.js";

const RUNS = 50; // shown at most

/** @type {Record<string, "good" | "bad" | "warn" | undefined>} */
const TONES = { done: "good", refused: "bad", released: "warn" };

const runRow = (/** @type {any} */ run) => [
  String(run.number),
  run.dataset === null
    ? "a dataset that you do not see"
    : h("a", { href: `#${path("datasets", run.dataset, "figures")}` }, run.dataset),
  badge(run.state, TONES[run.state]),
  costText(run.charged),
  time(run.ended_at ?? run.queued_at),
  run.problem?.detail ?? run.figures.join(", "),
];

/** Return what a run would cost, and what the runs have done. */
async function details(/** @type {string} */ at, /** @type {boolean} */ mayPlan) {
  const [plan, runs] = await Promise.all([
    mayPlan ? call("POST", `${at}/plan`).catch((/** @type {any} */ error) => error) : null,
    get(`${at}/runs?order=newest&limit=${RUNS}`),
  ]);
  return [
    plan && (plan instanceof Error ? alertOf(plan) : h("p", {}, plan.summary)),
    runs.runs.length === 0
      ? h("p", { class: "muted" }, "It has not run yet: it runs when a dataset is registered that succeeds this one.")
      : table(
          runs.next === null ? "Runs, newest first" : `The latest ${RUNS} runs`,
          ["Run", "Dataset", "State", "ε", "At", "Figures or problem"],
          runs.runs.map(runRow),
          [3],
        ),
  ];
}

function fold(/** @type {any} */ report, /** @type {boolean} */ mayPlan) {
  const body = h("div", { class: "fold-body" });
  const at = path("datasets", report.dataset, "reports", report.report);
  const open = async () => {
    if (!element.open || body.childElementCount > 0) return;
    fill(body, skeleton(3));
    try {
      fill(
        body,
        lines([
          ["Defined by", report.principal],
          ["A run may cost", `ε ${costText(report.epsilon_per_run)}`],
          ["All runs may cost", `ε ${costText(report.epsilon_total)}`],
        ]),
        await details(at, mayPlan),
      );
    } catch (error) {
      fill(body, alertOf(error));
    }
  };
  const element = h(
    "details",
    { class: "fold", toggle: open },
    h(
      "summary",
      {},
      h("span", { class: "fold-title" }, report.report),
      h(
        "span",
        { class: "muted" },
        `ε ${costText(report.epsilon_spent)} spent; ${leftText(report.epsilon_remaining)} left for further runs`,
      ),
    ),
    body,
  );
  return element;
}

/**
 * Return the card of a dataset's reports, or null if it has none.
 * @param {string} dataset
 * @param {{ role: string }} me
 */
export async function reportsCard(dataset, { role }) {
  const { reports, next } = await get(`${path("datasets", dataset)}/reports?limit=100`);
  if (reports.length === 0) return null;
  return card("Reports", [
    h(
      "p",
      { class: "muted" },
      "Batches that are released, and published as figures, when a dataset succeeds this one.",
    ),
    reports.map((/** @type {any} */ each) => fold(each, role !== "auditor")),
    next !== null && h("p", { class: "muted" }, "Only the first hundred are shown."),
  ]);
}
