// The options that most people leave as they are: γ, the grid, reuse, and the method of quantiles.

import { text } from "../../ui/controls.js";
import { field, h, select } from "../../ui/dom.js";
import * as checks from "./checks.js";
import { watched } from "./watched.js";

const METHODS =
  "An adaptive histogram needs fewer counts: narrower intervals of a few quantiles in many intervals." +
  " A histogram also shows the rest of the distribution, and is free if it is already released.";

/** Return the fold of advanced options; `more` are fields of the question that belong there too. */
export function advancedOptions(changed, more) {
  const gamma = text({ value: "0.05" });
  const refinement = text({ value: "auto", inputmode: "text" });
  const reuse = h("input", { type: "checkbox", checked: true });
  const method = select(
    [
      ["", "whichever is narrower"],
      ["histogram", "histogram"],
      ["adaptive", "adaptive histogram"],
      ["search", "search"],
    ],
    "",
  );
  const methodField = field("Method of the quantiles", method, METHODS);
  const ofGamma = watched([gamma], () => checks.aProbability("γ")(gamma.value));
  const ofRefinement = watched([refinement], () => checks.aRefinement(refinement.value));
  const element = h(
    "details",
    { input: changed },
    h("summary", {}, "Advanced: weights, γ, grid, reuse"),
    more,
    methodField,
    field("γ", gamma, "The probability that the mechanism clamps the value: a smaller γ makes a wider range."),
    field("Grid refinement", refinement, "How often the grid is halved: auto, or 0 (the published mechanism) to 30."),
    field("Reuse earlier releases", reuse, "An earlier release that is accurate enough answers at no cost."),
  );
  return {
    element,
    method: () => method.value,
    offerMethod(may) {
      methodField.hidden = !may;
    },
    body: () => ({ gamma: gamma.value.trim(), grid_refinement: refinement.value.trim(), reuse: reuse.checked }),
    problem: () => ofGamma.problem() ?? ofRefinement.problem(),
    show(where, message) {
      if (where === "gamma") ofGamma.show(message);
      else if (where === "grid_refinement") ofRefinement.show(message);
      else return false;
      return true;
    },
  };
}
