// The form of a filter: at most one condition for each column. A row must meet all conditions.

import { PERIODS, numeric, temporal, text, typed, valueInput } from "../ui/controls.js";
import { announce, field, fill, h, select } from "../ui/dom.js";
import { categoryLabel, columnText } from "../ui/format.js";

/** Return a category as a choice of a form, with what the owner calls it. */
export function categoryText(category, declared) {
  const label = categoryLabel(category, declared);
  return label === category ? category : `${category} (${label})`;
}

/** Return checkboxes for the declared values. At first all are checked, so that every row with a value is included. */
function choices(values, declared) {
  const boxes = values.map((value) => [value, h("input", { type: "checkbox", checked: true })]);
  return {
    element: h("div", { class: "choices" }, boxes.map(([value, box]) => field(categoryText(String(value), declared), box))),
    body: () => ({ in: boxes.filter(([, box]) => box.checked).map(([value]) => value) }),
  };
}

const LOWER = ["at_least", "above"], UPPER = ["at_most", "below"];

function numbers(declared) {
  const [one, what] = temporal(declared) ? ["Date", "dates"] : ["Number", "numbers"];
  const ways = [["between", `between two ${what}`], ["at_least", "at least"], ["above", "above"],
    ["at_most", "at most"], ["below", "below"], ["in", "one of a list"]];
  const how = select(ways, "between", { change: show });
  const [from, to] = (declared.bounds ?? ["", ""]).map((bound) => valueInput(declared, bound));
  const list = text({ inputmode: "text" });
  const parts = h("div");
  function show() {
    if (how.value === "in") fill(parts, field("Values", list, "Separated by commas."));
    else if (LOWER.includes(how.value)) fill(parts, field(one, from));
    else if (UPPER.includes(how.value)) fill(parts, field(one, to));
    else fill(parts, h("div", { class: "pair" }, field("From", from), field("To", to)));
  }
  show();
  return {
    element: h("div", { class: "fields" }, field("Is", how), parts),
    body() {
      if (how.value === "in") return { in: typed(list) };
      if (how.value === "between") return { between: [from.value.trim(), to.value.trim()] };
      return { [how.value]: (LOWER.includes(how.value) ? from : to).value.trim() };
    },
  };
}

/** Return fields to choose values, or their opposite, or the rows with or without a value. */
function condition(declared) {
  const values = numeric(declared) ? numbers(declared)
    : choices(declared.kind === "boolean" ? [true, false] : declared.categories, declared);
  const ways = [["values", "those with these values"], ["not", "those with other values"],
    ...(declared.nullable === false ? [] : [["missing", "those without a value"], ["known", "those with a value"]])];
  const which = select(ways, "values", { change: show });
  function show() {
    values.element.hidden = which.value === "missing" || which.value === "known";
  }
  return {
    element: h("div", { class: "fields" }, values.element, field("Rows", which)),
    body() {
      if (which.value === "values") return values.body();
      return which.value === "not" ? { not: values.body() } : { is_missing: which.value === "missing" };
    },
  };
}

/** Return fields to add and remove conditions; `body()` returns them as `where`, or an empty object. */
export function filterFields(columns, changed) {
  const met = new Map();
  const list = h("div", { class: "fields" });
  const column = h("select");
  const add = h("button", { type: "button", class: "quiet", click: added }, "Add a condition");
  const adding = h("div", {}, field("Filter by", column), add);

  function offer() {
    const free = Object.keys(columns).filter((name) => !met.has(name));
    fill(column, free.map((name) => h("option", { value: name }, columnText(name, columns[name]))));
    adding.hidden = free.length === 0;
  }
  function added() {
    const name = column.value;
    const fields = condition(columns[name]);
    const remove = () => {
      met.delete(name);
      part.remove();
      offer();
      changed();
      column.focus();
      announce(`The condition on ${name} is removed.`);
    };
    const part = h("fieldset", { class: "condition" }, h("legend", {}, "Only rows by ", name), fields.element,
      h("button", { type: "button", class: "quiet", "aria-label": `Remove the condition on ${name}`, click: remove }, "Remove"));
    met.set(name, fields.body);
    list.append(part);
    offer();
    changed();
    part.querySelector("input, select").focus();
  }
  offer();
  const where = () => Object.fromEntries([...met].map(([name, body]) => [name, body()]));
  return { element: h("div", {}, list, adding), body: () => (met.size === 0 ? {} : { where: where() }) };
}

/** Return a field to choose one number for each category or period of a column, or one number for all rows. */
export function groupField(columns) {
  const names = Object.keys(columns);
  const groups = [
    ...names.filter((name) => columns[name].kind === "category").map((name) => [columnText(name, columns[name]), name]),
    ...names.filter((name) => temporal(columns[name])).flatMap((column) => PERIODS
      .map((bins) => [`${bins.replace("iso_", "")} of ${column}`, { column, bins }])),
  ];
  if (groups.length === 0) return { element: null, body: () => ({}) };
  const by = select([["", "all rows together"], ...groups.map(([told], at) => [String(at), told])], "");
  return { element: field("For each", by), body: () => (by.value === "" ? {} : { group_by: groups[Number(by.value)][1] }) };
}

/** Return a field to weight each row by a column whose bounds are at least 0, if there is one. */
export function weightField(columns) {
  const names = Object.keys(columns).filter((name) => numeric(columns[name]) && Number(columns[name].bounds[0]) >= 0);
  if (names.length === 0) return { element: null, body: () => ({}) };
  const by = select([["", "each row alike"], ...names.map((name) => [name, columnText(name, columns[name])])], "");
  return { element: field("Weight", by), body: () => (by.value === "" ? {} : { weight: by.value }) };
}
