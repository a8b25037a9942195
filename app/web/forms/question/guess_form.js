// Guesses of the table, without the data: they plan how wide an interval will be, and where it may be.

import { temporal, text, valueInput } from "../../ui/controls.js";
import { field, fill, h } from "../../ui/dom.js";
import { withUnit } from "../../ui/format.js";
import * as checks from "./checks.js";
import { supposed } from "./suppositions.js";
import { watched } from "./watched.js";

/** Return how a guess is called for a statistic. */
function labelOf(name, { kind, column, columns: pair, weight, group_by: group }, named) {
  const of = (at) => {
    const name = pair?.[at] ?? column;
    return name === undefined ? "" : named(name);
  };
  return {
    guess: kind === "histogram" ? "Your guess of each count (optional)" : "Your guess (optional)",
    mean: `Mean of ${of(0)}`,
    mean_x: `Mean of ${of(0)}`,
    mean_y: pair && `Mean of ${of(1)}`,
    standard_deviation: `Standard deviation of ${of(0)}`,
    standard_deviation_x: `Standard deviation of ${of(0)}`,
    standard_deviation_y: pair && `Standard deviation of ${of(1)}`,
    count: group ? "Rows in each group" : "Rows that count",
    weight: weight && `Mean of ${named(weight)}`,
    proportion: "Share, from 0 to 1",
    correlation: "Correlation",
    slope: pair && `Slope: ${of(1)} for 1 of ${of(0)}`,
  }[name];
}

const unitOf = (name, { column, columns: pair }, columns) => {
  if (["mean", "standard_deviation", "mean_x", "standard_deviation_x"].includes(name))
    return columns[pair?.[0] ?? column]?.unit;
  return ["mean_y", "standard_deviation_y"].includes(name) ? columns[pair[1]]?.unit : undefined;
};

/** Return the fields of guesses; `set` says which a statistic takes, and `guessed()` what they are, typed or supposed. */
export function guessForm(facts, named, changed) {
  const typed = new Map();
  const place = h("div", { class: "guesses" });
  const intro = h("p", { class: "muted" });
  const element = h("div", { hidden: true }, intro, place);
  let shown = new Map(); // name → { control, watch }
  let key = "";
  let kept = ""; // what a guess is of, so that a typed one comes back with its question

  function build({ statistic }, { needed, optional, compared }, relative) {
    const suggestion = supposed({ statistic }, facts);
    const names = [...needed, ...optional];
    shown = new Map(
      names.map((name) => {
        const column = facts.columns[statistic.columns?.[name === "mean_y" ? 1 : 0] ?? statistic.column];
        const dated = column && temporal(column) && ["mean", "mean_x", "mean_y"].includes(name);
        const value = typed.get(`${kept}/${name}`) ?? (needed.includes(name) ? suggestion(name) : "");
        const control = dated ? valueInput(column, value) : text({ value });
        const label = withUnit(
          labelOf(name, statistic, named),
          unitOf(name, statistic, facts.columns) && `(${unitOf(name, statistic, facts.columns)})`,
        );
        const check =
          needed.includes(name) || (relative() && name === compared)
            ? checks.aNumber("The guess", suggestion(name) || "100")
            : checks.perhapsANumber("The guess", "100");
        const watch = watched([control], () =>
          dated ? (control.value === "" ? "Type a date." : null) : check(control.value),
        );
        const own = kept;
        control.addEventListener("input", () => {
          typed.set(`${own}/${name}`, control.value);
          changed();
        });
        return [name, { control, watch, element: field(label, control) }];
      }),
    );
    intro.textContent =
      needed.length > 0
        ? "The picture supposes this, without the data. Change it to what you expect: it also divides ε so that the interval is narrow."
        : "Your guess places the interval in the picture. It is computed without the data.";
    element.hidden = names.length === 0;
    fill(
      place,
      [...shown.values()].map((each) => each.element),
    );
  }
  return {
    element,
    /** Show the fields of a statistic; what was typed for it before is kept. */
    set(found, names, relative) {
      const { kind, column, columns, bounds, weight, group_by: group, where } = found.statistic;
      const next = JSON.stringify([
        found.to,
        kind,
        column,
        columns,
        bounds,
        weight,
        group,
        Object.keys(where ?? {}),
        names,
        relative(),
      ]);
      if (next === key) return;
      key = next;
      kept = JSON.stringify([kind, column, columns, group]);
      build(found, names, relative);
    },
    guessed: () =>
      Object.fromEntries(
        [...shown].map(([name, { control }]) => [name, control.value.trim()]).filter(([, value]) => value !== ""),
      ),
    problem: () => [...shown.values()].map(({ watch }) => watch.problem()).find((message) => message !== null) ?? null,
    show(where, message) {
      const found = shown.get(where.replace(/^guesses\./, ""));
      found?.watch.show(message);
      return found !== undefined;
    },
  };
}
