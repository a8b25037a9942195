// One column of the table: its fields, a warning beside what was drafted from the data, and the owner's word for it.

import { badge, field, fill, h, notice, select, setError } from "../ui/dom.js";
import { KINDS, kindText } from "../ui/kinds.js";
import { valueFields } from "./column_fields.js";
import { missingFields, textFields } from "./column_texts.js";
import { draftedOf, isBounded, isConfirmed, ofKind } from "./declaration.js";

/**
 * @typedef {import("./declaration.js").Declared} Declared
 * @typedef {{ element: HTMLDetailsElement, name: string, check: () => boolean, reveal: () => void, fault: (what: string | null) => void }} Editor
 */

const SHOWN_CATEGORIES = 3;

/** Return a bound as people write it. */
const spoken = (/** @type {any} */ bound) => String(bound).replace("T", " ");

/** Return what a column declares, for the line that is seen when it is closed. */
export function summaryOf(/** @type {Declared} */ declared) {
  const { bounds, categories = [], unit } = declared;
  if (isBounded(declared))
    return `${bounds.map((/** @type {any} */ bound) => spoken(bound) || "?").join(" to ")}${unit ? ` ${unit}` : ""}`;
  const rest = categories.length - SHOWN_CATEGORIES;
  return categories.slice(0, SHOWN_CATEGORIES).join(", ") + (rest > 0 ? ` and ${rest} more` : "") || "no category yet";
}

/**
 * Return the warning beside what is still as it was drafted from the data, if something is.
 * @param {Declared} declared
 * @param {Declared} drafted
 */
function warningOf(declared, drafted) {
  const from = drafted.unconfirmed ?? [];
  const bounds = from.includes("bounds") ? drafted.bounds : [];
  const found = bounds.filter(
    (/** @type {string} */ bound, /** @type {number} */ at) => bound !== "" && declared.bounds?.[at] === bound,
  );
  if (found.length > 0) {
    return notice(
      "warn",
      h(
        "p",
        {},
        h(
          "strong",
          {},
          found.length > 1 ? "These bounds are values of the data. " : `${spoken(found[0])} is a value of the data. `,
        ),
        found.length > 1
          ? `${found.map(spoken).join(" and ")} are the least and the greatest that were found. `
          : "It is the least or the greatest that was found. ",
        "Everybody with access would learn that somebody has it.",
      ),
      h(
        "p",
        {},
        "Enter what is known without the data: a law, the end of a scale, a field guide, a published report. If unsure, go wider.",
      ),
    );
  }
  if (
    from.includes("categories") &&
    declared.categories?.length > 0 &&
    declared.categories.every((/** @type {string} */ each) => drafted.categories.includes(each))
  ) {
    return notice(
      "warn",
      h(
        "p",
        {},
        h("strong", {}, "These categories are texts of the data. "),
        "Everybody with access would learn that each of them occurs; a rare one can point to one person.",
      ),
      h(
        "p",
        {},
        "Keep those that are known without the data, such as the answers on the questionnaire, and add those that did not occur.",
      ),
    );
  }
  return (
    from.includes("time_zone") &&
    declared.time_zone === drafted.time_zone &&
    notice("warn", h("p", {}, "The data does not say in which time zone these times are to be read: choose it."))
  );
}

const WORDS = /** @type {Record<string, string>} */ ({
  category: "these categories",
  timestamp: "these bounds and the time zone",
});

/**
 * Return the editor of a column. Its content is made when it is first opened, since a table may have thousands.
 * @param {string} name
 * @param {{ get: () => Declared, set: (declared: Declared) => void, remove: () => void, changed: () => void, next: () => void }} column
 * @returns {Editor}
 */
export function columnEditor(name, { get, set, remove, changed, next }) {
  const [state, shown, body] = [h("span"), h("span", { class: "muted" }), h("div", { class: "fold-body" })];
  const element = /** @type {HTMLDetailsElement} */ (
    h(
      "details",
      { class: "fold", toggle: () => element.open && build() },
      h("summary", {}, h("span", { class: "fold-title" }, name), shown, state),
      body,
    )
  );
  let drafted = structuredClone(get());
  let wrong = /** @type {string | null} */ (null);
  let built = false;
  let check = () => true;
  let mark = () => {};

  function summarize() {
    const declared = get();
    const kind = kindText(declared);
    shown.textContent = declared.kind === "boolean" ? kind : `${kind}: ${summaryOf(declared)}`;
    fill(
      state,
      wrong
        ? badge("to mend", "bad")
        : isConfirmed(declared)
          ? badge(draftedOf(declared.kind).length > 0 ? "confirmed" : "nothing to confirm", "good")
          : badge("to confirm", "warn"),
    );
  }
  function build() {
    if (built) return;
    built = true;
    const declared = get();
    const warning = h("div", {}, warningOf(declared, drafted));
    const confirm = h("input", {
      type: "checkbox",
      checked: isConfirmed(declared),
      change: () => agree(confirm.checked),
    });
    const edited = () => {
      declared.unconfirmed = draftedOf(declared.kind);
      confirm.checked = false;
      fill(warning, warningOf(declared, drafted));
      tell(null);
    };
    const parts = [...valueFields(declared, edited), textFields(declared), missingFields(declared)];
    const values = parts.slice(0, -2);
    const kind = select(KINDS, declared.kind, {
      change: () => {
        set(ofKind(declared, kind.value));
        drafted = structuredClone(get());
        rebuild();
        tell(null);
        /** @type {HTMLElement | null} */ (body.querySelector("select"))?.focus();
      },
    });
    check = () => parts.map((part) => part.check()).every(Boolean);
    function agree(/** @type {boolean} */ is) {
      if (is && !check()) {
        confirm.checked = false;
        /** @type {HTMLElement | null} */ (body.querySelector("[aria-invalid=true]"))?.focus();
        return;
      }
      declared.unconfirmed = is ? [] : draftedOf(declared.kind);
      setError(confirm, null);
      tell(null);
      fill(warning, is ? null : warningOf(declared, drafted));
    }
    mark = () => setError(confirm, "Confirm this, or leave the column out.");
    const needsWord = draftedOf(declared.kind).length > 0;
    fill(
      body,
      wrong && notice("bad", h("p", {}, wrong)),
      h(
        "div",
        { class: "columns" },
        h(
          "div",
          {},
          field("Kind", kind),
          values.map((part) => part.element),
          warning,
          needsWord && field(`I know ${WORDS[declared.kind] ?? "these bounds"} without looking at the data`, confirm),
        ),
        h(
          "div",
          {},
          parts.slice(-2).map((part) => part.element),
        ),
      ),
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", class: "quiet small", click: next }, "Next column to confirm"),
        h(
          "button",
          { type: "button", class: "link small", click: remove, "aria-label": `Leave out ${name}` },
          "Leave this column out",
        ),
      ),
    );
  }
  function rebuild() {
    built = false;
    if (element.open) build();
  }
  function tell(/** @type {string | null} */ what) {
    wrong = what;
    summarize();
    changed();
  }
  const reveal = () => {
    element.open = true;
    build();
    /** @type {HTMLElement} */ (element.firstElementChild).focus();
  };
  const fault = (/** @type {string | null} */ what) => {
    wrong = what;
    rebuild();
    summarize();
  };
  summarize();
  return {
    element,
    name,
    reveal,
    fault,
    check: () => {
      if (isConfirmed(get())) return !built || check();
      element.open = true;
      build();
      mark();
      return false;
    },
  };
}
