// What an answer will look like: its interval beside the range of all possible answers.

import { chart, draw } from "../../charts/charts.js";
import { rangePicture } from "../../charts/range.js";
import { h } from "../../ui/dom.js";
import { percent } from "../../ui/rounding.js";

const WIDE = 0.5; // of the range: an interval that is wider tells little

/**
 * Return the picture of an interval of `radius` around `at` in `range`, all numbers; `tell` says a number of the range,
 * `error` the radius. Without a range or a radius there is none.
 */
export function intervalPicture({ range, radius, at, tell, error }) {
  if (range === null || !(radius > 0)) return null;
  const [lower, upper] = range;
  const middle = Math.min(upper, Math.max(lower, at ?? (lower + upper) / 2));
  const width = (2 * radius) / (upper - lower);
  /** @type {[string, string]} */
  const ends = [tell(lower), tell(upper)];
  const picture = chart(`An interval of ± ${error} in the possible range from ${ends.join(" to ")}`);
  draw(picture, rangePicture({ range, interval: [middle - radius, middle + radius], ends, text: `± ${error}` }));
  return [
    picture,
    h(
      "p",
      { class: "muted" },
      `The interval is ${percent(Math.min(1, width))} of the possible range.`,
      width > WIDE &&
        h("strong", { class: "refused" }, " It would tell you little: ask for a smaller error, or spend more ε."),
    ),
  ];
}
