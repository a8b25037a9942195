// α, γ, grid refinement and reuse, which have defaults that most will keep.

import { text } from "./controls.js";
import { field, h } from "./dom.js";

export function finerPoints(changed) {
  const [alpha, gamma, refinement] = ["0.05", "0.05", "0"].map((value) => text({ value }));
  const reuse = h("input", { type: "checkbox", checked: true });
  const element = h("details", { input: changed }, h("summary", {}, "Finer points"),
    field("α", alpha, "The error stays within the radius with probability 1 − α."),
    field("γ", gamma, "How much of ε′ the rounding may take: a smaller γ makes a wider range."),
    field("Grid refinement", refinement, "Each step halves the grid."),
    field("Reuse earlier releases", reuse, "What is known already costs nothing."));
  return {
    element,
    body: () => ({
      alpha: alpha.value.trim(), gamma: gamma.value.trim(), grid_refinement: refinement.value.trim(),
      reuse: reuse.checked,
    }),
  };
}
