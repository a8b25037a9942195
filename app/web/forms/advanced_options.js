// The fields for α, γ, grid refinement and reuse; most people keep their defaults.

import { text } from "../ui/controls.js";
import { field, h } from "../ui/dom.js";

export function advancedOptions(changed) {
  const [alpha, gamma, refinement] = ["0.05", "0.05", "auto"].map((value) => text({ value }));
  const reuse = h("input", { type: "checkbox", checked: true });
  const element = h("details", { input: changed }, h("summary", {}, "More options"),
    field("α", alpha, "The error stays within the radius with probability 1 − α: 0.05 is 95 % confidence."),
    field("γ", gamma, "The probability that the mechanism clamps the value: a smaller γ makes a wider range."),
    field("Grid refinement", refinement, "How often the grid is halved: auto, or 0 (the published mechanism) to 30."),
    field("Reuse earlier releases", reuse, "An earlier release that is accurate enough answers at no cost."));
  return {
    element,
    body: () => ({
      alpha: alpha.value.trim(), gamma: gamma.value.trim(), grid_refinement: refinement.value.trim(),
      reuse: reuse.checked,
    }),
  };
}
