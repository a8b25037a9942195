// What a question costs and what it leaves, at a glance; and other prices for the same question.

import { components } from "../../charts/derived_results.js";
import { gauge, windowNote } from "../../ui/budget_gauge.js";
import { facts, h, help, lines } from "../../ui/dom.js";
import { bound, costText, leftText, number, withUnit } from "../../ui/format.js";
import { errorText } from "../../ui/rounding.js";
import { fromNano, spendable, toNano } from "./planned_answer.js";
import { shortage } from "./shortage.js";

const NANO_DIGITS = 9;

/** Return the error of an answer with its unit; a share is told in percentage points. */
export function errorOf({ radius, unit, share }) {
  if (radius === null) return null;
  return share ? `${errorText(100 * radius)} percentage points` : withUnit(errorText(radius), unit);
}

function price({ free, charged, to, plan }) {
  const several = to === "derived" && plan.components.length > 1;
  const made = several && `It takes ${plan.components.length} releases that share this ε.`;
  if (free) {
    return [
      h("p", { class: "figure" }, "Nothing"),
      h(
        "p",
        { class: "muted" },
        to === "releases" ? "An earlier release answers this." : "Earlier releases answer this.",
      ),
    ];
  }
  return [
    h("p", { class: "figure" }, `ε ${costText(charged)}`),
    h("p", { class: "muted" }, made, made && " ", "Nothing is charged until you release."),
  ];
}

function remains({ plan: { budget }, covers, free, affordable }, { allowance }) {
  const left = { ...allowance, epsilon_remaining: budget.allowance_remaining };
  const after = affordable && !free && fromNano(toNano(budget.allowance_remaining) - toNano(budget.charged));
  return [
    allowance &&
      budget.allowance_remaining !== null &&
      gauge("Your allowance", left, windowNote(allowance.window), affordable && !free ? budget.charged : undefined),
    lines([
      ["After this", after && `ε ${leftText(after)} left`],
      ["Your budget covers this", !covers ? null : covers === 1 ? "once" : `${covers.toLocaleString("en")} times`],
      ["Left of the dataset's budget", `ε ${leftText(budget.dataset_remaining)}`],
    ]),
  ];
}

/** Return the releases that are known already, which cost nothing. */
function knownOnes({ to, plan }) {
  const known = to === "derived" ? plan.components.filter(({ reused }) => reused).length : 0;
  return (
    known > 0 &&
    known < plan.components.length &&
    h(
      "p",
      { class: "good-text" },
      `${known} of its ${plan.components.length} releases ${known === 1 ? "is" : "are"} known already: free.`,
    )
  );
}

/** Return an offer of another ε, with a button that takes it; `cost` is less than the ε where a part is known already. */
export const offer = (title, epsilon, cost, error, take) =>
  h(
    "div",
    { class: "offer" },
    h(
      "div",
      {},
      h("strong", {}, `${title}: `),
      `for ε ${cost} you get `,
      h("span", { class: "nowrap" }, `± ${error}.`),
    ),
    h(
      "button",
      { type: "button", class: "link small", "aria-label": `Take ε ${epsilon}`, click: () => take(epsilon) },
      "Take it",
    ),
  );

/** Return the price of a question, what it leaves, and who can help if that is too much. */
export function costCard(answer, people) {
  const short = !answer.affordable && shortage(answer.plan.budget, people);
  return [
    h("div", { class: "muted" }, "This costs ", help("cost")),
    price(answer),
    short,
    knownOnes(answer),
    remains(answer, people.budget),
  ];
}

/** Return the exact figures of a plan. */
export function exactFigures({ to, plan, unit, epsilon }) {
  if (to === "derived") {
    return [
      components("The releases that it would be derived from", plan),
      facts([
        ["ε", epsilon],
        ["Charged", `ε ${plan.budget.charged}`],
        [
          "Half the width, expected",
          plan.expected?.half_width == null ? null : `± ${withUnit(bound(plan.expected.half_width), unit)}`,
        ],
      ]),
    ];
  }
  const { accuracy, bias, mechanism, reused_accuracy: answering } = plan;
  return facts([
    ["Radius", `± ${withUnit(bound(accuracy.radius), unit)}`],
    ["Tight radius", `± ${withUnit(bound(accuracy.tight_radius), unit)}`],
    [
      "All bins at once",
      accuracy.simultaneous_radius === undefined ? null : `± ${bound(accuracy.simultaneous_radius)}`,
    ],
    ["Radius of the release that answers", answering && `± ${withUnit(bound(answering.radius), unit)}`],
    ["ε", epsilon],
    ["Charged", `ε ${plan.budget.charged}`],
    [
      "Bias at the guess",
      bias &&
        `${withUnit(number(bias.at_guess), unit)}, at most ± ${withUnit(bound(bias.largest), unit)} for any value`,
    ],
    ["Scale", number(mechanism.scale)],
    ["Grid", number(mechanism.grid)],
  ]);
}

/**
 * Return whether another price is worth offering: it costs less or is more precise, as people read both, and its
 * interval is narrower than the range of all possible answers.
 */
export function isGain(shown, other, range) {
  if (other.radius === null || other.free) return false;
  if (range !== null && 2 * other.radius >= range[1] - range[0]) return false;
  if (!shown.affordable) return true;
  const cheaper = toNano(other.charged) < toNano(shown.charged);
  const better = shown.radius === null || other.radius < shown.radius;
  return cheaper ? costText(other.charged) !== costText(shown.charged) : better && errorOf(other) !== errorOf(shown);
}

const MIN_CLIFF_GAIN = 1.05;

/** Return whether a cliff gains clearly more than in proportion to its ε. */
export function isBargain(shown, cliff) {
  const proportion = Number(cliff.epsilon) / Number(shown.epsilon);
  return shown.radius === null || shown.radius / cliff.accuracy > MIN_CLIFF_GAIN * proportion;
}

/** Return the ε of other prices that can be paid: half and twice, or all that is left if this is too much. */
export function otherPrices({ epsilon, affordable, plan: { budget } }) {
  const left = spendable(budget);
  if (!affordable) return left > 0n ? [["With all that is left", fromNano(left)]] : [];
  const two = (value) => toNano(Number(value.toPrecision(2)).toFixed(NANO_DIGITS)); // an ε that can be read
  /** @type {[string, bigint][]} */
  const prices = [
    ["More precise", two(2 * Number(epsilon))],
    ["Cheaper", two(Number(epsilon) / 2)],
  ];
  return prices.filter(([, each]) => each > 0n && each <= left).map(([title, each]) => [title, fromNano(each)]);
}
