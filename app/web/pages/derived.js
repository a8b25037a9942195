// The page of derived statistics: shows first which releases are missing and what they cost, then the answer.

import { call, get, path } from "../api.js";
import { asking } from "../asking.js";
import { text } from "../controls.js";
import { derivedFields } from "../derived.js";
import { components, derivedName, derivedResult } from "../derived_results.js";
import { alertOf, facts, field, fill, form, h } from "../dom.js";
import { finerPoints } from "../finer.js";
import { lost } from "../lost.js";
import { debounced, latest } from "../settling.js";

const SETTLE_MS = 250;

function planned({ dataset, components: all, budget }) {
  const free = Number(budget.charged) === 0;
  const verdict = !budget.affordable ? "This costs more than you have left."
    : free ? "Earlier releases answer this at no cost." : `This would cost ε ${budget.charged}.`;
  return [
    h("p", { class: budget.affordable ? "verdict" : "verdict refused" }, h("strong", {}, verdict)),
    components("The releases that it would be derived from", dataset, all),
    facts([["Left of the dataset's budget", `ε ${budget.dataset_remaining}`],
      ["Left of your allowance", budget.allowance_remaining === null ? "no allowance" : `ε ${budget.allowance_remaining}`]]),
  ];
}

export async function derived(name) {
  const dataset = await get(path("datasets", name));
  const [outcome, answer] = [h("div"), h("div")];
  const brief = h("output", { class: "muted" });
  const question = () => ({ derived: fields.body(), epsilon: epsilon.value.trim(), ...finer.body() });

  const replan = latest(async (signal) => {
    try {
      const plan = await call("POST", `${path("datasets", name)}/derived/plan`, question());
      if (signal.aborted) return;
      fill(outcome, planned(plan));
      fill(brief, plan.budget.affordable ? `for ε ${plan.budget.charged}` : "for more than you have left");
    } catch (error) {
      if (signal.aborted) return;
      fill(outcome, alertOf(error));
      fill(brief);
    }
  });
  const changed = debounced(replan, SETTLE_MS);
  const fields = derivedFields(dataset.columns, changed);
  const finer = finerPoints(changed);
  const epsilon = text({ value: "0.5", input: changed });

  const { ask, again } = asking(name, "derived", answer, {
    shown: derivedResult, afterwards: replan,
    free: ({ budget }) => Number(budget.charged) === 0 && "Earlier releases answered, at no cost.",
  });
  const asked = form({ class: "card" }, () => ask(question()), fields.element,
    field("ε", epsilon, "The most that it may cost, shared equally by its releases."), finer.element,
    h("div", { class: "buttons" }, h("button", { type: "submit" }, "Release"), brief));
  replan();
  return [
    ...lost(name, "derived", (body) => derivedName(body.derived), again),
    h("div", { class: "columns" }, asked,
      h("section", { class: "card", "aria-label": "The plan" }, h("h2", {}, "What it would cost"), outcome)),
    answer,
  ];
}
