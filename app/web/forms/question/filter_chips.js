// The filter of a question: a chip for each condition, and an editor for one of them. A row must meet all conditions.

import { announce, chip, field, fill, h, select, setError } from "../../ui/dom.js";
import { condition, conditionText } from "./conditions.js";

/** Return the filter; `where()` has the conditions that were added, and `problem()` names one that was not. */
export function filterChips(columns, named, changed) {
  const met = new Map(); // name → the condition's fields, which still hold what was typed
  const list = h("ul", { class: "chips", "aria-label": "Conditions" });
  const editor = h("div");
  const add = h("button", { type: "button", class: "chip add", click: () => edit(null) }, "+ filter");
  let open = false;

  const free = () => Object.keys(columns).filter((name) => !met.has(name));
  function draw() {
    setError(add, null);
    const chips = [...met].map(([name, fields]) =>
      h(
        "li",
        {},
        chip(
          h(
            "button",
            {
              type: "button",
              class: "chip-text",
              "aria-label": `Change the condition on ${name}`,
              click: () => edit(name),
            },
            h("strong", {}, named(name)),
            ` ${conditionText(fields.body(), columns[name])}`,
          ),
          { name: `Remove the condition on ${name}`, remove: () => remove(name) },
        ),
      ),
    );
    add.hidden = open || free().length === 0;
    fill(list, chips, h("li", {}, add));
  }
  function close() {
    open = false;
    fill(editor);
    draw();
  }
  function remove(name) {
    met.delete(name);
    close();
    announce(`The condition on ${name} is removed.`);
    (add.hidden ? list.querySelector("button") : add)?.focus();
    changed();
  }
  /** Open the editor of a condition, or of a new one. */
  function edit(name) {
    open = true;
    /** @type {HTMLSelectElement | false} */
    const column =
      name === null &&
      select(
        free().map((each) => [each, named(each)]),
        free()[0],
        { change: ({ target }) => choose(target.value) },
      );
    const parts = h("div");
    let chosen;
    let fields;
    function choose(which) {
      chosen = which;
      fields = met.get(which) ?? condition(columns[which]);
      fill(parts, fields.element);
    }
    function done() {
      const wrong = fields.problem();
      if (wrong) {
        setError(wrong.control, wrong.message);
        wrong.control.focus();
        return;
      }
      met.set(chosen, fields);
      close();
      announce(`Only rows where ${chosen} ${conditionText(fields.body(), columns[chosen])}.`);
      (add.hidden ? list.querySelector("button") : add)?.focus();
      changed();
    }
    choose(name ?? free()[0]);
    fill(
      editor,
      h(
        "fieldset",
        {
          class: "condition",
          keydown: (event) => {
            if (event.key === "Enter" && event.target.tagName !== "BUTTON") {
              event.preventDefault();
              done();
            } else if (event.key === "Escape") {
              close();
              add.focus();
            }
          },
        },
        h("legend", {}, name === null ? "Only rows where" : `Only rows where ${named(name)}`),
        column && field("Filter by", column),
        parts,
        h(
          "div",
          { class: "buttons" },
          h(
            "button",
            { type: "button", class: "small", click: done },
            name === null ? "Add the condition" : "Change it",
          ),
          h(
            "button",
            {
              type: "button",
              class: "quiet small",
              click: () => {
                close();
                add.focus();
              },
            },
            "Cancel",
          ),
        ),
      ),
    );
    draw();
    (column || parts.querySelector("input, select"))?.focus();
  }
  draw();
  return {
    element: h("div", { class: "filter" }, list, editor),
    where: () => Object.fromEntries([...met].map(([name, fields]) => [name, fields.body()])),
    /** Show what the service says about one of the conditions. */
    show(at, what) {
      setError(add, `The condition on ${[...met.keys()][at]}: ${what}`);
    },
    problem: () => (open ? "A condition is not added yet: add it, or cancel it." : null),
  };
}
