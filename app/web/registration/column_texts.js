// The fields of what people read of a column: its label, unit and description; and of its rule for missing values.

import { valueInput } from "../ui/controls.js";
import { field, h, validate } from "../ui/dom.js";
import { checkNumber } from "./declaration.js";

/**
 * @typedef {import("./declaration.js").Declared} Declared
 * @typedef {import("./column_fields.js").Fields} Fields
 */

const text = (/** @type {Record<string, any>} */ properties) =>
  h("input", { type: "text", autocomplete: "off", ...properties });

/** Set or remove a member. */
function assign(/** @type {Declared} */ declared, /** @type {string} */ member, /** @type {any} */ value) {
  if (value === "" || value == null) delete declared[member];
  else declared[member] = value;
}

/** Return the fields of what people read: what the column is called, its unit and what it says. @returns {Fields} */
export function textFields(/** @type {Declared} */ declared) {
  const made = (/** @type {string} */ member, /** @type {number} */ most) => {
    const input = text({
      value: declared[member] ?? "",
      maxlength: most,
      input: () => assign(declared, member, input.value.trim()),
    });
    return input;
  };
  const hasUnit = ["integer", "real", "decimal"].includes(declared.kind);
  return {
    element: h(
      "div",
      {},
      h(
        "div",
        { class: "pair" },
        field("Label (optional)", made("label", 255), "How people call it."),
        hasUnit && field("Unit (optional)", made("unit", 32), "Such as € or mm."),
      ),
      field("Description (optional)", made("description", 2000), "What was asked or measured, and how."),
    ),
    check: () => true,
  };
}

const MISSING = /** @type {Record<string, string>} */ ({
  boolean: "A missing value counts as false in sums and means, unless an analyst leaves it out.",
  category: "Missing values are counted in a group of their own.",
});

/** Return the fields of the rule for missing values. @returns {Fields} */
export function missingFields(/** @type {Declared} */ declared) {
  const nullable = h("input", {
    type: "checkbox",
    checked: declared.nullable !== false && declared.nullable !== "false",
    change: () => {
      if (nullable.checked) delete declared.nullable;
      else declared.nullable = false;
      show();
    },
  });
  const value = valueInput(declared, declared.null_value === undefined ? "" : String(declared.null_value));
  value.addEventListener("input", () => assign(declared, "null_value", value.value.trim()));
  const counted = field(
    "A missing value counts as (optional)",
    value,
    "By default the middle of the bounds. Analysts can leave missing values out instead.",
  );
  const isCounted = declared.kind !== "boolean" && declared.kind !== "category";
  const note = h("p", { class: "muted" }, MISSING[declared.kind]);
  function show() {
    counted.hidden = !nullable.checked || !isCounted;
    note.hidden = !nullable.checked || isCounted;
  }
  show();
  const check = validate(value, (entered) =>
    entered.trim() === "" || value.type !== "text" ? null : checkNumber(entered),
  );
  return {
    element: h(
      "div",
      {},
      field("Some rows may have no value", nullable, "If you untick it, a table with a missing value here is refused."),
      counted,
      note,
    ),
    check: () => counted.hidden !== false || check(),
  };
}
