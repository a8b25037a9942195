// The page of derived statistics: shows first which releases are missing and what they cost, then the answer.

import { call, get, path } from "../api.js";
import { components, derivedName, derivedResult, treatment } from "../charts/derived_results.js";
import { compareKnown, replacesMissing } from "../charts/known_values.js";
import { advancedOptions } from "../forms/advanced_options.js";
import { prepareRequests } from "../forms/ask.js";
import { derivedFields } from "../forms/derived_question.js";
import { lostResponses } from "../forms/lost_responses.js";
import { releaseForm } from "../forms/release_form.js";
import { text } from "../ui/controls.js";
import { cancelPrevious, debounce } from "../ui/debounce.js";
import { alertOf, facts, field, fill, h, select } from "../ui/dom.js";

const SETTLE_MS = 250;

/** Return fields to choose an ε or the width of the interval, which takes guesses of the table. */
function precision(changed) {
  const by = select([["epsilon", "ε, the privacy cost"], ["accuracy", "accuracy, half the width of the interval"],
    ["relative_accuracy", "accuracy, as a part of your guess"]], "epsilon", { change: () => { switched(); changed(); } });
  const value = text({ value: "0.5", input: changed });
  const guesses = text({ inputmode: "text", input: changed });
  const valueField = field("ε", value, "The most that it may cost, shared by its releases.");
  const label = valueField.querySelector("label");
  function switched() {
    label.textContent = by.value === "epsilon" ? "ε" : "Accuracy wanted";
  }
  const guessed = () => Object.fromEntries(guesses.value.split(",").filter((each) => each.trim() !== "")
    .map((each) => each.split("=").map((part) => part.trim())).map(([name, number]) => [name, number ?? ""]));
  return {
    element: [field("Choose by", by), valueField,
      field("Your guesses (optional)", guesses, "Such as mean=4200, count=150: what the table may be, to plan the interval without the data.")],
    body: () => ({ [by.value]: value.value.trim(), guesses: guessed() }),
  };
}

const PLAIN = ["sum", "standard_deviation", "correlation", "regression"]; // derived of all rows, too

/** Plan the same with missing values as they are declared, where they are left out and there is such a statistic. */
async function planCounted(name, { derived: { missing, ...asked }, guesses, ...rest }) {
  const some = asked.where || asked.group_by || asked.weight;
  const { count: _, ...others } = guesses; // all rows are counted, unless they are filtered or grouped
  if (missing !== "exclude" || !(PLAIN.includes(asked.kind) || (asked.kind === "mean" && some))) return null;
  try {
    return await call("POST", `${path("datasets", name)}/derived/plan`, { ...rest, derived: asked, guesses: asked.where || asked.group_by ? guesses : others });
  } catch {
    return null; // such as for guesses that only the other one takes
  }
}

function planned(plan, counted) {
  const { dataset, components: all, budget, summary, expected } = plan;
  const free = Number(budget.charged) === 0;
  const verdict = !budget.affordable ? "This costs more than you have left."
    : free ? "Earlier releases answer this at no cost." : `This would cost ε ${budget.charged}.`;
  return [
    h("p", { class: budget.affordable ? "verdict" : "verdict refused" }, h("strong", {}, verdict)),
    counted && replacesMissing(counted) && compareKnown(plan, counted),
    expected ? h("p", {}, summary) : treatment(plan),
    components("The releases that it would be derived from", dataset, all),
    facts([["Left of the dataset's budget", `ε ${budget.dataset_remaining}`],
      ["Left of your allowance", budget.allowance_remaining === null ? "no allowance" : `ε ${budget.allowance_remaining}`]]),
  ];
}

export async function derived(name) {
  const dataset = await get(path("datasets", name));
  const [outcome, answer] = [h("div"), h("div")];
  const brief = h("output", { class: "muted" });
  const question = () => ({ derived: fields.body(), ...exact.body(), ...options.body() });

  const replan = cancelPrevious(async (signal) => {
    try {
      const asked = question();
      const plan = await call("POST", `${path("datasets", name)}/derived/plan`, asked);
      const counted = await planCounted(name, asked);
      if (signal.aborted) return;
      fill(outcome, planned(plan, counted));
      fill(brief, plan.budget.affordable ? `for ε ${plan.budget.charged}` : "for more than you have left");
    } catch (error) {
      if (signal.aborted) return;
      fill(outcome, alertOf(error));
      fill(brief);
    }
  });
  const changed = debounce(replan, SETTLE_MS);
  const fields = derivedFields(dataset.columns, changed);
  const options = advancedOptions(changed);
  const exact = precision(changed);

  const { ask, again } = prepareRequests(name, "derived", answer, {
    shown: derivedResult, afterwards: replan,
    free: ({ budget }) => Number(budget.charged) === 0 && "Earlier releases answered, at no cost.",
  });
  const asked = releaseForm({ question, replan, ask,
    plan: (body) => call("POST", `${path("datasets", name)}/derived/plan`, body),
  }, brief, fields.element, exact.element, options.element);
  replan();
  return [
    ...lostResponses(name, "derived", (body) => derivedName(body.derived), again),
    h("div", { class: "columns" }, asked,
      h("section", { class: "card", "aria-label": "The plan" }, h("h2", {}, "What it would cost"), outcome)),
    answer,
  ];
}
