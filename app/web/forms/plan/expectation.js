// What an answer will look like, as far as public facts and guesses say: its interval, and what the columns count as.

import { h } from "../../ui/dom.js";
import { confidence, number, withUnit } from "../../ui/format.js";
import { asYear, holdsYears, isYear } from "../../ui/years.js";
import { fromNumber, publicRange, toNumber } from "../question/suppositions.js";
import { errorOf } from "./cost_card.js";
import { intervalPicture } from "./interval_picture.js";

/** Return what a request asks of, for the range of its answers. */
const statisticOf = ({ to, body }) => ({ to, statistic: to === "derived" ? body.derived : body.statistic });

const temporalKind = (declared) => declared && ["date", "timestamp"].includes(declared.kind);

function promise({ basis, radius, share, together, unit }, { body }, several, grouped) {
  const level = confidence(Number(body.alpha));
  if (basis === "promise") {
    return (
      `With ${level} confidence, ${several ? "each number" : "the answer"} is within this of the truth, whatever the data is.` +
      (together === null ? "" : ` All at once are within ± ${errorOf({ radius: together, unit, share })}.`)
    );
  }
  if (basis === "unknown") return "How wide the interval will be is not known without your guesses.";
  if (radius === null) return "With this ε the interval would have no ends: it would tell nothing. Spend more ε.";
  const small = grouped ? " A small group has a wider one." : "";
  return basis === "guesses"
    ? `The interval with ${level} confidence would be about this wide if the guesses below are right; noise makes it wider or narrower.${small}`
    : `The interval with ${level} confidence would be about this wide or narrower, whatever the data is.${small}`;
}

/** Return the picture of the interval in the range of all possible answers, and what it promises. */
export function expectation(found, request, facts) {
  const asked = statisticOf(request);
  const { kind, group_by: group, column } = asked.statistic;
  const declared = facts.columns[column];
  const dated = temporalKind(declared) && ["mean", "quantile"].includes(kind);
  const range = publicRange(asked, facts);
  const year = isYear({ bounds: declared?.bounds, ...asked.statistic }, facts.columns);
  const several = group !== undefined || ["histogram", "cumulative", "margin", "quantile"].includes(kind);
  const guess =
    request.guessed[
      {
        mean: "mean",
        quantile: "mean",
        correlation: "correlation",
        proportion: "proportion",
        standard_deviation: "standard_deviation",
      }[kind]
    ] ?? request.guessed.guess;
  const tell = (value) =>
    dated
      ? fromNumber(value, declared).replace("T", " ")
      : found.share
        ? `${number(100 * value)} %`
        : withUnit(asYear(number(value), year), found.unit);
  const radius = found.radius === null ? null : dated && declared.kind === "timestamp" ? null : found.radius;
  const at = guess === undefined || guess === "" ? null : dated ? toNumber(guess, declared) : Number(guess);
  return [
    h("h2", {}, "What the answer will look like"),
    found.radius !== null && h("p", { class: "figure" }, `± ${errorOf(found)}`, several && h("span", {}, " each")),
    intervalPicture({ range, radius, at: Number.isFinite(at) ? at : null, tell, error: errorOf(found) }),
    h("p", { class: "muted" }, promise(found, request, several, group !== undefined)),
  ];
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Return what missing values and values outside the bounds count as; `other` is the plan of the other treatment. */
export function treatmentNotes(found, other) {
  const rules = Object.values(found.plan.treatment ?? {}).map(({ rule }) => h("p", {}, `${capital(rule)}.`));
  const numbers = Object.entries(other?.plan.treatment ?? {}).flatMap(
    ([column, { missing_as: as, clamped_to: bounds }]) =>
      typeof as === "number"
        ? [asYear(number(as), holdsYears(column, other.plan.columns?.[column], bounds))]
        : typeof as === "boolean"
          ? [String(as)]
          : [],
  );
  const counted = other?.to === "releases" || !("missing" in (other?.plan.derived ?? {}));
  const told =
    other &&
    other.radius !== null &&
    h(
      "p",
      {},
      counted
        ? `Counted${numbers.length > 0 ? ` as ${numbers.join(" and ")}` : " as declared"}` +
            ` instead, the same ε gives ± ${errorOf(other)}.`
        : `Left out instead, the same ε gives about ± ${errorOf(other)}${other.plan.components.length > 1 ? `, from ${other.plan.components.length} releases` : ""}.`,
    );
  return [rules, told];
}
