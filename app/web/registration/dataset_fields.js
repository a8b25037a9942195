// What is declared of the dataset as a whole: its name, its budget, and how many rows one person can have.

import { combobox, field, h, help, notice, validate } from "../ui/dom.js";
import { checkLimit, checkName, checkRows } from "./declaration.js";

/** @typedef {import("./declaration.js").Metadata} Metadata */

const text = (/** @type {Record<string, any>} */ properties) =>
  h("input", { type: "text", autocomplete: "off", ...properties });

/** Return how sure somebody can become of a fact that was as likely as not, in per cent. */
function surest(/** @type {number} */ epsilon) {
  const share = 100 / (1 + Math.exp(-epsilon));
  if (share > 99.9) return "practically certain";
  return `${share < 99 ? Math.ceil(share) : Math.ceil(share * 10) / 10} % sure`;
}

const meaning = (/** @type {string} */ limit) =>
  checkLimit(limit) === null
    ? `Whatever is asked: somebody who thinks a fact about one person as likely as not can become at most ${surest(Number(limit))} of it.`
    : "";

/**
 * Return the fields, with a function that checks all of them and returns the first that is wrong, or null.
 * @param {Metadata} metadata
 * @param {string[]} columns all columns of the table
 * @param {string[]} own names of the owner's other datasets
 * @param {() => void} changed
 */
export function datasetFields(metadata, columns, own, changed) {
  const listen = (
    /** @type {HTMLInputElement | HTMLTextAreaElement} */ input,
    /** @type {string} */ member,
    optional = false,
  ) => {
    input.addEventListener("input", () => {
      if (optional && input.value.trim() === "") delete metadata[member];
      else metadata[member] = input.value.trim();
      changed();
    });
    return input;
  };
  const name = listen(text({ value: metadata.name ?? "", autocapitalize: "off", spellcheck: "false" }), "name");
  const description = listen(
    h("textarea", { rows: 2, value: metadata.description ?? "", maxlength: 10_000 }),
    "description",
  );
  const limit = listen(text({ value: String(metadata.epsilon_limit ?? ""), inputmode: "decimal" }), "epsilon_limit");
  const rows = listen(text({ value: String(metadata.rows_per_unit ?? 1), inputmode: "numeric" }), "rows_per_unit");
  const told = h("p", { class: "muted", role: "status" }, meaning(limit.value));
  limit.addEventListener("input", () => {
    told.textContent = meaning(limit.value);
  });
  const unit = combobox(
    "Column that identifies the person (optional)",
    columns.map((value) => ({ value })),
    {
      value: metadata.unit_column ?? "",
      hint: "It is used to count each person's rows, and is not stored unless you declare it.",
      change: (value) => {
        if (value === "") {
          delete metadata.unit_column;
          delete metadata.truncate;
          truncate.checked = false;
        } else metadata.unit_column = value;
        show();
        changed();
      },
    },
  );
  const truncate = h("input", {
    type: "checkbox",
    checked: metadata.truncate === true || metadata.truncate === "true",
    change: () => {
      if (truncate.checked) metadata.truncate = true;
      else delete metadata.truncate;
      changed();
    },
  });
  const cut = field(
    "If somebody has more rows, keep only so many of them",
    truncate,
    "Otherwise such a table is refused.",
  );
  const several = h("div", {}, unit.element, cut);
  const earlier = combobox(
    "Earlier dataset about the same people (optional)",
    own.map((value) => ({ value })),
    {
      value: metadata.succeeds ?? "",
      hint: "Each has a budget of its own, and for a person in both they add up. Both will say so.",
      change: (value) => {
        if (value === "") delete metadata.succeeds;
        else metadata.succeeds = value;
        changed();
      },
    },
  );
  function show() {
    several.hidden = rows.value.trim() === "1" && unit.value === "";
    cut.hidden = unit.value === "";
  }
  rows.addEventListener("input", show);
  show();
  const tests = /** @type {[HTMLInputElement, () => boolean][]} */ ([
    [name, validate(name, (value) => checkName(value.trim()))],
    [limit, validate(limit, checkLimit)],
    [rows, validate(rows, checkRows)],
  ]);
  const element = h(
    "div",
    { class: "columns" },
    h(
      "div",
      {},
      field("Name", name, "Part of addresses: small letters, digits, - and _. It stays taken for ever."),
      field("Description (optional)", description, "What one row is, when and how it was collected."),
      own.length > 0 && earlier.element,
    ),
    h(
      "div",
      {},
      field(
        h("span", {}, "Budget (ε) ", help("budget")),
        limit,
        "The most that all answers together may ever reveal, to everybody and for ever. 1 to 4 is a " +
          "start: you can raise it later, but never take back what was spent.",
      ),
      told,
      field(
        "Rows of one person, at most",
        rows,
        "How many rows of the table can be about the same person, household or company?",
      ),
      several,
      notice(
        "info",
        h(
          "p",
          {},
          "A person with more rows than this is protected less: with twice as many, as if ε were twice as large. The larger the number, the more noise each answer has.",
        ),
      ),
    ),
  );
  return { element, firstWrong: () => tests.filter(([, test]) => !test()).map(([input]) => input)[0] ?? null };
}
