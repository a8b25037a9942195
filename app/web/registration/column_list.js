// The columns of the table: a search, those that are still to confirm, and those that are left out.

import { fill, h, longList } from "../ui/dom.js";
import { count } from "../ui/format.js";
import { columnEditor } from "./column_editor.js";
import { isConfirmed } from "./declaration.js";

/**
 * @typedef {import("./declaration.js").Metadata} Metadata
 * @typedef {import("./declaration.js").LeftOut} LeftOut
 * @typedef {import("./column_editor.js").Editor} Editor
 */

const STEP = 25;
export const BY_HAND = "is left out by you";

/**
 * Return the list of a table's columns.
 * @param {Metadata} metadata
 * @param {LeftOut[]} leftOut
 * @param {() => void} changed
 */
export function columnList(metadata, leftOut, changed) {
  /** @type {Map<string, Editor>} */
  const editors = new Map();
  const [list, others] = [h("div"), h("div")];
  const tally = h("p", { class: "muted", role: "status" });
  /** @type {Metadata["columns"]} */
  const removed = {};
  let out = [...leftOut];
  let onlyOpen = false;

  const open = () => Object.keys(metadata.columns).filter((name) => !isConfirmed(metadata.columns[name]));
  const filter = h(
    "button",
    {
      type: "button",
      class: "chip",
      "aria-pressed": "false",
      click: () => {
        onlyOpen = !onlyOpen;
        filter.setAttribute("aria-pressed", String(onlyOpen));
        draw();
      },
    },
    "Only those to confirm",
  );
  const rest = h("button", { type: "button", class: "quiet small", click: () => leave(open()) });

  function editorOf(/** @type {string} */ name) {
    const found = editors.get(name);
    if (found) return found;
    const made = columnEditor(name, {
      get: () => metadata.columns[name],
      set: (declared) => {
        metadata.columns[name] = declared;
      },
      remove: () => leave([name]),
      changed: () => {
        recount();
        changed();
      },
      next: () => next(name),
    });
    editors.set(name, made);
    return made;
  }
  /** Open the next column that is to be confirmed, and close this one. */
  function next(/** @type {string} */ name) {
    const names = Object.keys(metadata.columns);
    const waiting = open().filter((each) => each !== name);
    const following = waiting.find((each) => names.indexOf(each) > names.indexOf(name)) ?? waiting[0];
    editorOf(name).element.open = false;
    if (following === undefined) editorOf(name).reveal();
    else show(following);
  }
  /** Open a column, wherever it is in the list. */
  function show(/** @type {string} */ name) {
    if (!editorOf(name).element.isConnected) draw(name);
    editorOf(name).reveal();
  }
  function leave(/** @type {string[]} */ names) {
    for (const name of names) {
      removed[name] = metadata.columns[name];
      delete metadata.columns[name];
      editors.delete(name);
    }
    out = [...out, ...names.map((column) => ({ column, reason: BY_HAND }))];
    draw();
    changed();
    tally.focus();
  }
  function take(/** @type {string} */ name) {
    out = out.filter(({ column }) => column !== name);
    metadata.columns[name] = removed[name] ?? { kind: "integer", bounds: ["", ""], unconfirmed: ["bounds"] };
    draw(name);
    changed();
    show(name);
  }
  function recount() {
    const [all, waiting] = [Object.keys(metadata.columns).length, open().length];
    tally.textContent =
      `${count(all, "column")}, ${waiting === 0 ? "all confirmed" : `${waiting} to confirm`}` +
      `${out.length > 0 ? `; ${out.length} left out` : ""}.`;
    filter.hidden = waiting === 0 && !onlyOpen;
    rest.hidden = waiting === 0 || waiting === all;
    rest.textContent = `Leave out the ${waiting} that ${waiting === 1 ? "is" : "are"} not confirmed`;
  }
  function draw(/** @type {string | undefined} */ first = undefined) {
    const names = Object.keys(metadata.columns).filter((name) => !onlyOpen || !isConfirmed(metadata.columns[name]));
    const items = first === undefined ? names : [first, ...names.filter((name) => name !== first)];
    fill(
      list,
      items.length === 0
        ? h("p", { class: "muted" }, onlyOpen ? "All columns are confirmed." : "No column is declared.")
        : longList({
            items,
            noun: "column",
            step: STEP,
            textOf: (name) => `${name} ${metadata.columns[name]?.label ?? ""} ${metadata.columns[name]?.kind}`,
            render: (shown) =>
              h(
                "div",
                {},
                shown.filter((name) => name in metadata.columns).map((name) => editorOf(name).element),
              ),
          }),
    );
    fill(
      others,
      out.length > 0 &&
        h(
          "details",
          { class: "fold" },
          h(
            "summary",
            {},
            h("span", { class: "fold-title" }, `${count(out.length, "column")} left out`),
            h("span", { class: "muted" }, "They are not stored."),
          ),
          h(
            "div",
            { class: "fold-body" },
            longList({
              items: out,
              noun: "column",
              step: STEP,
              textOf: ({ column }) => column,
              render: (shown) =>
                h(
                  "ul",
                  { class: "plain" },
                  shown.map(({ column, reason }) =>
                    h(
                      "li",
                      { class: "row between" },
                      h("span", {}, h("strong", {}, column), ` ${reason}`),
                      h(
                        "button",
                        {
                          type: "button",
                          class: "quiet small",
                          "aria-label": `Declare ${column}`,
                          click: () => take(column),
                        },
                        "Declare it",
                      ),
                    ),
                  ),
                ),
            }),
          ),
        ),
    );
    recount();
  }
  tally.tabIndex = -1;
  draw();
  return {
    element: h(
      "div",
      { class: "stack" },
      h("div", { class: "row between" }, tally, h("div", { class: "buttons" }, filter, rest)),
      list,
      others,
    ),
    editorOf,
    show,
    /** Return the columns that the owner has left out. */
    leftByHand: () => out.filter(({ reason }) => reason === BY_HAND).map(({ column }) => column),
    /** Return the first column that is not right, or null; each says what is wrong with it. */
    firstWrong: () => Object.keys(metadata.columns).find((name) => !editorOf(name).check()) ?? null,
  };
}
