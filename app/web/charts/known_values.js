// Shows what leaving out missing values takes, beside counting them as the owner declared.

import { table } from "../ui/dom.js";
import { bound, count, withUnit } from "../ui/format.js";

/** Return whether missing values count as a number in a plan. */
export const replacesMissing = ({ treatment = {} }) =>
  Object.values(treatment).some(({ missing_as: value }) => ["number", "boolean"].includes(typeof value));

/** Return what a plan costs, for reading: the exact figure stands beside it. */
function cost({ budget, components }) {
  const epsilon = `ε ${Number(Number(budget.charged).toPrecision(3))}`;
  return components === undefined ? epsilon : `${epsilon}, ${count(components.length, "release")}`;
}

/** Return how wide an interval would be: the radius of a release, or what a derived plan expects. */
function width({ accuracy, unit, expected, units = {} }) {
  if (accuracy) return `± ${withUnit(bound(accuracy.radius), unit)}`;
  if (!expected) return "known with your guess";
  if (expected.half_width === null) return "no ends";
  const about = `about ± ${withUnit(bound(expected.half_width), Object.values(units)[0])}`;
  return expected.basis === "guesses" ? `${about}, if your guess is right` : about;
}

/** Return a table of both plans: `known` leaves missing values out, and `all` counts them. */
export function compareKnown(known, all, link) {
  return table(
    "With and without missing values",
    ["Missing values", "Cost", "Interval"],
    [
      [link ?? "left out", cost(known), width(known)],
      ["counted as declared", cost(all), width(all)],
    ],
  );
}
