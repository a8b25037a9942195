// One condition of a filter: its fields, and how it is told.

import { numeric, temporal, text, typed, valueInput } from "../../ui/controls.js";
import { field, fill, h, select } from "../../ui/dom.js";
import { categoryLabel, date } from "../../ui/format.js";
import { toNumber } from "./suppositions.js";

const SEARCHED_FROM = 12; // as many categories can be seen at once
const TOLD = 3; // values of a list in a chip
const ENDS = { at_least: "at least", above: "above", at_most: "at most", below: "below" };

/** Return a category as a choice of a form, with what the owner calls it. */
export function categoryText(category, declared) {
  const label = categoryLabel(category, declared);
  return label === category ? category : `${category} (${label})`;
}

/** Return checkboxes for the declared categories, with a search where they are many. */
function choices(declared) {
  const boxes = declared.categories.map((value) => {
    const box = h("input", { type: "checkbox" });
    return { value, box, row: field(categoryText(value, declared), box) };
  });
  const find = h("input", {
    type: "search",
    autocomplete: "off",
    input: () => {
      const sought = find.value.trim().toLowerCase();
      boxes.forEach(({ value, row }) => {
        row.hidden = !categoryText(value, declared).toLowerCase().includes(sought);
      });
    },
  });
  const list = h(
    "div",
    { class: "choices", role: "group", "aria-label": "Values" },
    boxes.map(({ row }) => row),
  );
  const chosen = () => boxes.filter(({ box }) => box.checked).map(({ value }) => value);
  const all = (checked) => () =>
    boxes.forEach(({ box, row }) => {
      if (!row.hidden) box.checked = checked;
    });
  return {
    element: h(
      "div",
      { class: "field" },
      boxes.length > SEARCHED_FROM && field("Find", find),
      list,
      boxes.length > 2 &&
        h(
          "div",
          { class: "buttons" },
          h("button", { type: "button", class: "link small", click: all(true) }, "All"),
          h("button", { type: "button", class: "link small", click: all(false) }, "None"),
        ),
    ),
    body: () => ({ in: chosen() }),
    problem: () => (chosen().length === 0 ? { control: boxes[0].box, message: "Choose at least one value." } : null),
  };
}

const UPPER = ["at_most", "below"];

/** Return the values of a numeric column: `show(how)` shows the fields of one way to choose them. */
function numbers(declared) {
  const one = temporal(declared) ? "Date" : "Number";
  const [from, to] = (declared.bounds ?? ["", ""]).map((bound) =>
    valueInput(declared, String(bound).replace(/Z$/, "")),
  );
  const list = text({ inputmode: "text" });
  const element = h("div");
  const order = (value) => (value.trim() === "" ? NaN : toNumber(value.trim(), declared));
  const used = (how) => (how === "between" ? [from, to] : [UPPER.includes(how) ? to : from]);
  return {
    element,
    show(how) {
      if (how === "in") fill(element, field("Values", list, "Separated by commas."));
      else if (how === "between") fill(element, h("div", { class: "pair" }, field("From", from), field("To", to)));
      else fill(element, field(one, used(how)[0]));
    },
    problem(how) {
      if (how === "in") {
        const wrong = typed(list).find((each) => !Number.isFinite(order(each)));
        if (typed(list).length === 0) return { control: list, message: "Type at least one value." };
        return wrong === undefined ? null : { control: list, message: `${wrong} is not a value of this column.` };
      }
      const control = used(how).find((each) => !Number.isFinite(order(each.value)));
      if (control) return { control, message: `Type a ${one.toLowerCase()}.` };
      return how === "between" && order(from.value) > order(to.value)
        ? { control: to, message: "The end is below the beginning." }
        : null;
    },
    body: (how) =>
      how === "in"
        ? { in: typed(list) }
        : how === "between"
          ? { between: [from.value.trim(), to.value.trim()] }
          : { [how]: used(how)[0].value.trim() },
  };
}

/** Return the ways to choose rows by a column: `[value, text]`, where `not:` is the opposite of a way. */
function waysOf(declared) {
  const missing =
    declared.nullable === false
      ? []
      : [
          ["known", "known: it has a value"],
          ["missing", "missing: it has no value"],
        ];
  if (declared.kind === "boolean") return [["true", "true"], ["false", "false"], ...missing];
  if (!numeric(declared)) return [["in", "one of"], ["not:in", "none of"], ...missing];
  return [
    ["at_least", "at least"],
    ["above", "above"],
    ["at_most", "at most"],
    ["below", "below"],
    ["between", "between"],
    ["not:between", "not between"],
    ["in", "one of a list"],
    ["not:in", "none of a list"],
    ...missing,
  ];
}

/** Return the fields of one condition on a column; `problem()` is `{control, message}` or null. */
export function condition(declared) {
  /** @type {any} */
  const values = numeric(declared) ? numbers(declared) : declared.kind === "boolean" ? null : choices(declared);
  const how = select(waysOf(declared), numeric(declared) ? "between" : undefined, { change: show });
  const place = h("div");
  const way = () => how.value.replace("not:", "");
  const alone = () => values === null || ["known", "missing"].includes(how.value);
  function show() {
    if (!alone()) values.show?.(way());
    fill(place, !alone() && values.element);
  }
  show();
  return {
    element: h("div", { class: "condition-fields" }, field("Is", how), place),
    problem: () => (alone() ? null : values.problem(way())),
    body() {
      if (["known", "missing"].includes(how.value)) return { is_missing: how.value === "missing" };
      if (values === null) return { in: [how.value === "true"] };
      return how.value.startsWith("not:") ? { not: values.body(way()) } : values.body(way());
    },
  };
}

/** Return a condition in words, after the name of its column; long lists are cut. */
export function conditionText({ between, in: values, is_missing: missing, not, ...ends }, declared) {
  if (not) return `not ${conditionText(not, declared)}`;
  if (missing != null) return missing ? "has no value" : "has a value";
  if (between) return `${date(between[0])} to ${date(between[1])}`;
  if (values) {
    const told = values
      .slice(0, TOLD)
      .map((value) => categoryLabel(String(value), declared))
      .join(", ");
    return values.length > TOLD ? `${told} and ${values.length - TOLD} more` : told;
  }
  return Object.keys(ENDS)
    .filter((end) => ends[end] != null)
    .map((end) => `${ENDS[end]} ${date(String(ends[end]))}`)
    .join(" and ");
}
