// The planner page: choose a statistic and a point on its curve, see what it costs, and release it.

import { call, get, path } from "../api.js";
import { chart, draw } from "../charts/charts.js";
import { curve, radiusAt } from "../charts/curve.js";
import { compareKnown, replacesMissing } from "../charts/known_values.js";
import { lines } from "../charts/lines.js";
import { result } from "../charts/release_results.js";
import { advancedOptions } from "../forms/advanced_options.js";
import { prepareRequests } from "../forms/ask.js";
import { lostResponses } from "../forms/lost_responses.js";
import { statisticFields } from "../forms/question.js";
import { releaseForm } from "../forms/release_form.js";
import { cancelPrevious, debounce } from "../ui/debounce.js";
import { alertOf, facts, field, fill, h, select } from "../ui/dom.js";
import { bound, decimal, number, statistic, withUnit } from "../ui/format.js";

const SETTLE_MS = { plan: 250, curve: 700 };
const STEPS = 1000;
const OF_KNOWN = ["mean", "variance", "covariance"];

/** Return the largest ε that the user can spend now. */
const spendable = ({ dataset_remaining: ofDataset, allowance_remaining: ofAllowance }) =>
  (ofAllowance === null ? 0 : Math.min(Number(ofDataset), Number(ofAllowance)));

function curveFigure(points, plan) {
  const place = (list) => list.map(({ epsilon, radius }) => [Number(epsilon), radius]);
  const chosen = plan && { epsilon: plan.privacy.epsilon, radius: plan.accuracy.radius };
  const remains = plan ? spendable(plan.budget) : Infinity;
  const within = points.filter(({ epsilon }) => Number(epsilon) <= remains);
  const beyond = points.slice(Math.max(0, within.length - 1)); // from the last affordable point, so the lines touch
  return lines({
    x: { kind: "log", title: "ε" }, y: { kind: "log", title: withUnit("radius", plan?.unit && `(${plan.unit})`) },
    tip: (epsilon, radius) => `ε ${epsilon}: ± ${bound(radius)}`,
    series: [
      { name: "covered by your budget", points: place(within), color: "var(--accent)" },
      ...(remains < Infinity && beyond.length > 1 ? [{ name: "more than you have left", points: place(beyond), color: "var(--bad)", dash: "2 4" }] : []),
      { name: "cliff", points: place(points.filter(({ edge }) => edge)), color: "var(--muted)", mark: "triangle" },
      ...(chosen ? [{ name: "this plan", points: place([chosen]), color: "var(--bad)", mark: "circle" }] : []),
    ].filter((each) => each.points.length > 0),
  });
}

/**
 * Plan the statistic of the known values for the same ε, where missing ones count as a number; null elsewhere.
 * The guess tells how wide the interval would be.
 */
async function planKnown(plan, { statistic: question, alpha, gamma, grid_refinement, reuse }, guess) {
  if (!OF_KNOWN.includes(question.kind) || !replacesMissing(plan)) return null;
  const guesses = guess === undefined || question.kind === "covariance" ? {}
    : question.kind === "mean" ? { mean: guess } : { standard_deviation: String(Math.sqrt(Math.max(0, Number(guess)))) };
  const body = { derived: { ...question, missing: "exclude" }, epsilon: plan.privacy.epsilon, guesses,
    alpha, gamma, grid_refinement, reuse };
  try {
    return await call("POST", `${path("datasets", plan.dataset)}/derived/plan`, body);
  } catch {
    return null; // the plan itself is shown all the same
  }
}

/** Return what the statistic of the known values takes, beside the plan that counts missing ones. */
function offerKnown(plan, known) {
  if (known === null) return null;
  const link = h("a", { href: `#${path("datasets", plan.dataset, "derived")}` }, "left out");
  return [compareKnown(known, plan, link), h("p", { class: "muted" }, "Leaving them out also releases how many values are known.")];
}

function planned(plan, known, choose) {
  const { accuracy, bias, budget, cliff, privacy, reused_accuracy: answering, unit } = plan;
  const go = cliff && h("button", { type: "button", class: "quiet", click: () => choose(cliff.epsilon) },
    `Take ε ${cliff.epsilon}`);
  const verdict = budget.affordable
    ? (plan.reused ? "An earlier release answers this at no cost." : `This would cost ε ${budget.charged}.`)
    : "This costs more than you have left.";
  return [
    h("p", { class: budget.affordable ? "verdict" : "verdict refused" }, h("strong", {}, verdict)),
    offerKnown(plan, known),
    h("p", {}, plan.summary),
    facts([
      ["Radius", `± ${withUnit(bound(accuracy.radius), unit)}`],
      ["All bins at once", accuracy.simultaneous_radius === undefined ? null
        : `± ${bound(accuracy.simultaneous_radius)}`],
      ["Radius of the release that answers", answering && `± ${withUnit(bound(answering.radius), unit)}`],
      ["ε", privacy.epsilon], ["Charged", `ε ${budget.charged}`],
      ["Left of the dataset's budget", `ε ${budget.dataset_remaining}`],
      ["Left of your allowance", budget.allowance_remaining === null ? "no allowance"
        : `ε ${budget.allowance_remaining}`],
      ["Your budget covers", `${budget.repeatable} of these`],
      ["Bias at the guess", bias && `${withUnit(number(bias.at_guess), unit)}, at most ± ${withUnit(bound(bias.largest), unit)} for any value`],
      ["A better buy", cliff && h("span", {}, `ε ${cliff.epsilon} gives ± ${withUnit(bound(cliff.accuracy), unit)} `, go)],
    ]),
  ];
}

/** Return fields to choose an ε or an accuracy, with a slider along the curve or as text. */
function precision(changed) {
  const by = select([["epsilon", "ε, the privacy cost"], ["accuracy", "accuracy, the radius wanted"],
    ["relative_accuracy", "accuracy, as a part of your guess"]], "epsilon",
    { change: () => { switched(); changed(); } });
  const value = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", value: "0.5",
    input: () => { placed(); changed(); } });
  const slider = h("input", { type: "range", min: 0, max: STEPS, value: STEPS / 2, input: () => { slid(); changed(); } });
  const guess = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", input: changed });
  let points = [];
  let unitName;
  /** Return what a radius of 1 is in the accuracy that is typed. */
  const unit = () => (by.value === "relative_accuracy" && Number(guess.value) ? 1 / Math.abs(Number(guess.value)) : 1);
  const ends = () => [Number(points[0].epsilon), Number(points.at(-1).epsilon)];
  const at = () => {
    const [least, most] = ends();
    return least * (most / least) ** (Number(slider.value) / STEPS);
  };
  function place(epsilon) {
    const [least, most] = ends();
    slider.value = Math.round((STEPS * Math.log(epsilon / least)) / Math.log(most / least));
    said();
  }
  function said() {
    const epsilon = at();
    slider.setAttribute("aria-valuetext", `ε ${decimal(epsilon)}, radius ${bound(radiusAt(points, epsilon))}`);
  }
  function slid() {
    if (points.length === 0) return;
    value.value = decimal(by.value === "epsilon" ? at() : unit() * radiusAt(points, at()));
    said();
  }
  function placed() {
    const typed = Number(value.value);
    if (points.length === 0 || !(typed > 0)) return;
    place(by.value === "epsilon" ? typed : Number(points.find(({ radius }) => unit() * radius <= typed)?.epsilon ?? ends()[1]));
  }
  function named() {
    label.textContent = { epsilon: "ε", accuracy: withUnit("Radius wanted", unitName && `(${unitName})`) }[by.value]
      ?? "Radius wanted, as a part of the guess";
  }
  function switched() {
    if (points.length > 0) slid();
    named();
  }
  const valueField = field("ε", value);
  const label = valueField.querySelector("label");
  return {
    element: h("fieldset", { class: "fields" }, h("legend", {}, "How precise"),
      field("Choose by", by), field("Along the curve", slider, "Left is more private, right is more precise."), valueField,
      field("Your guess (optional)", guess, "Shows the average error (bias) if the value is your guess; computed without the data.")),
    body: () => ({ [by.value]: value.value.trim(), ...(by.value === "relative_accuracy" ? { guess: guess.value.trim() } : {}) }),
    guess: () => (guess.value.trim() === "" ? {} : { guess: guess.value.trim() }),
    name: (unit) => { unitName = unit; named(); },
    show: (found) => { points = found; placed(); },
    choose: (epsilon) => { by.value = "epsilon"; switched(); value.value = epsilon; placed(); changed(); },
    follow: (plan) => { if (points.length > 0 && by.value !== "epsilon") place(Number(plan.privacy.epsilon)); },
  };
}

export async function planner(name) {
  const dataset = await get(path("datasets", name));
  const outcome = h("div");
  const picture = chart("Radius against ε");
  const answer = h("div");
  const brief = h("output", { class: "muted" }); // a screen reader reads it; it repeats the plan next to the button
  let points = [];
  let plan = null;

  const question = () => ({ statistic: fields.body(), ...exact.body(), ...options.body() });
  const show = () => draw(picture, curveFigure(points, plan));

  const replan = cancelPrevious(async (signal) => {
    try {
      const found = await call("POST", `${path("datasets", name)}/plan`, { ...question(), ...exact.guess() });
      if (signal.aborted) return;
      const known = await planKnown(found, question(), exact.guess().guess);
      if (signal.aborted) return;
      plan = found;
      exact.follow(plan);
      exact.name(plan.unit);
      fill(outcome, planned(plan, known, exact.choose));
      const cost = plan.budget.affordable ? `ε ${plan.budget.charged}` : "more than you have left";
      fill(brief, `± ${withUnit(bound(plan.accuracy.radius), plan.unit)} for ${cost}`);
    } catch (error) {
      if (signal.aborted) return;
      plan = null;
      fill(outcome, alertOf(error));
      fill(brief);
    }
    if (points.length > 0) show();
  });
  const resample = cancelPrevious(async (signal) => {
    try {
      const found = await curve(name, fields.body(), { ...options.body(), reuse: false }, signal);
      if (signal.aborted) return;
      points = found;
      exact.show(points);
      show();
    } catch { // the plan's own request shows the error
      if (!signal.aborted) points = [];
    }
  });
  const sooner = debounce(replan, SETTLE_MS.plan);
  const later = debounce(resample, SETTLE_MS.curve);
  const changed = () => { sooner(); later(); };

  const fields = statisticFields(dataset.columns, changed);
  const options = advancedOptions(changed);
  const exact = precision(sooner);

  const { ask, again } = prepareRequests(name, "releases", answer, {
    shown: result, afterwards: replan,
    free: ({ reused }) => reused && "An earlier release answered, at no cost.",
  });
  const asked = releaseForm({ question, replan, ask,
    plan: (body) => call("POST", `${path("datasets", name)}/plan`, body),
  }, brief, fields.element, exact.element, options.element);
  replan();
  resample();
  return [
    ...lostResponses(name, "releases", (body) => statistic(body.statistic), again),
    h("div", { class: "columns" }, asked,
      h("section", { class: "card", "aria-label": "The plan" }, h("h2", {}, "What it would cost"), outcome, picture)),
    answer,
  ];
}
