// How precise an answer must be: within an error, within a part of a guess, or for an ε; and with which confidence.

import { h } from "../../ui/dom.js";
import * as checks from "./checks.js";
import { choice, word } from "./pills.js";
import { alphaOf } from "./questions.js";
import { watched } from "./watched.js";

const WAYS = [
  ["accuracy", "within ±"],
  ["relative_accuracy", "within a part of my guess:"],
  ["epsilon", "spending ε"],
];
const USUAL = { accuracy: "1", relative_accuracy: "5", epsilon: "0.5" };
const DIGITS = 3;

/** Return a positive number as a decimal for a field. */
function spell(value) {
  const places = Math.max(0, DIGITS - 1 - Math.floor(Math.log10(value)));
  const text = Number(value.toPrecision(DIGITS)).toFixed(Math.min(places, 12));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Return the end of the sentence. `follow` tells it the plan, so that another way of choosing begins there. */
export function precisionForm(changed) {
  const by = choice("Precision", WAYS, "epsilon", switched);
  const value = word("ε", USUAL.epsilon, changed);
  const confidence = word("Confidence", "95", changed);
  const unit = h("span");
  const what = () => ({ accuracy: "The error", relative_accuracy: "The error", epsilon: "ε" })[by.control.value];
  const ofValue = watched([value.control], () =>
    checks.aNumber(what(), USUAL[by.control.value], 0)(value.control.value),
  );
  const ofConfidence = watched([confidence.control], () => checks.aConfidence(confidence.control.value));
  /** @type {any} */
  let known = null; // { epsilon, radius, unit, percent } of the plan
  let comparable = true;

  function named() {
    value.control.setAttribute(
      "aria-label",
      { accuracy: "Error", relative_accuracy: "Error in percent", epsilon: "ε" }[by.control.value],
    );
    unit.textContent = {
      accuracy: known?.percent ? "percentage points" : (known?.unit ?? ""),
      relative_accuracy: "%",
      epsilon: "",
    }[by.control.value];
    unit.hidden = unit.textContent === "";
  }
  function switched() {
    const radius = known?.radius && (known.percent ? 100 * known.radius : known.radius);
    if (by.control.value === "epsilon") value.control.value = known?.epsilon ?? USUAL.epsilon;
    else if (by.control.value === "accuracy" && radius) value.control.value = spell(radius);
    else value.control.value = USUAL[by.control.value];
    ofValue.show(null);
    named();
    changed();
  }
  named();
  return {
    element: [", ", by.element, " ", value.element, " ", unit, " with ", confidence.element, " % confidence."],
    precision: () => ({ by: by.control.value, value: value.control.value }),
    alpha: () => alphaOf(confidence.control.value),
    problem: () =>
      ofValue.problem() ??
      ofConfidence.problem() ??
      (by.control.value === "relative_accuracy" && !comparable
        ? "This answer has no guess that an error can be a part of: choose another precision."
        : null),
    /** Say whether the statistic has a guess that a relative accuracy is a part of. */
    allow(may) {
      comparable = may;
    },
    /** Choose by ε again if an error was chosen: it was one of another statistic, in other units. */
    renew() {
      if (by.control.value !== "accuracy" || known === null) return;
      by.control.value = "epsilon";
      value.control.value = spell(Number(known.epsilon));
      ofValue.show(null);
      named();
    },
    follow(plan) {
      known = plan;
      named();
    },
    take(epsilon) {
      by.control.value = "epsilon";
      value.control.value = epsilon;
      ofValue.show(null);
      named();
      changed();
    },
    show(where, message) {
      if (["epsilon", "accuracy", "relative_accuracy"].includes(where)) ofValue.show(message);
      else if (where === "alpha") ofConfidence.show(message);
      else return false;
      return true;
    },
  };
}
