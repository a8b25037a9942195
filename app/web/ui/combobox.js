// A field that offers a list and finds in it what is typed (the pattern "editable combobox" of the ARIA guide).

import { fill, h, newId } from "./element.js";
import { field } from "./field.js";

const MOST = 50; // offered at a time: the rest is found by typing

let isPressed = false;
addEventListener("pointerdown", () => (isPressed = true), true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (isPressed = false), true);

/**
 * Run an act now, or after the click that is going on: a list that closes moves what is below it, and a button that
 * moves away between press and release is not clicked.
 */
function whenReleased(/** @type {() => void} */ act) {
  if (!isPressed) act();
  else addEventListener("pointerup", () => setTimeout(act), { once: true, capture: true });
}

/** @typedef {{ value: string, text?: string, note?: string }} Option what is entered, how it is called, and more about it */

/**
 * Return a field with a list of options. `value` is what is typed or chosen; with `free`, also what is in no option.
 * @param {string} label
 * @param {Option[]} options
 * @param {{ value?: string, hint?: string, change?: (value: string) => void, properties?: Record<string, any> }} [parts]
 */
export function combobox(label, options, { value = "", hint, change = () => {}, properties = {} } = {}) {
  const list = h("ul", { role: "listbox", id: newId("options"), "aria-label": label, hidden: true });
  const input = h("input", {
    type: "text",
    role: "combobox",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-autocomplete": "list",
    "aria-controls": list.id,
    "aria-expanded": "false",
    value,
    ...properties,
    input: () => {
      open(input.value);
      change(input.value.trim());
    },
    click: () => open(""),
    blur: () => whenReleased(close),
    keydown: pressed,
  });
  /** @type {Option[]} */
  let offered = [];
  let active = -1;

  function open(/** @type {string} */ sought) {
    const asked = sought.trim().toLowerCase();
    const texts = ({ value: entered, text = "", note = "" }) => `${entered} ${text} ${note}`.toLowerCase();
    const found = options.filter((option) => texts(option).includes(asked));
    offered = found.slice(0, MOST);
    active = -1;
    fill(
      list,
      offered.map((option, at) =>
        h(
          "li",
          {
            role: "option",
            id: `${list.id}-${at}`,
            "aria-selected": "false",
            mousedown: (/** @type {Event} */ event) => {
              event.preventDefault();
              choose(option);
            },
          },
          option.text ?? option.value,
          option.note && h("small", {}, option.note),
        ),
      ),
      found.length > MOST &&
        h(
          "li",
          { class: "nothing", role: "option", "aria-disabled": "true" },
          `${found.length - MOST} more: type to find them`,
        ),
    );
    setOpen(offered.length > 0);
  }
  function setOpen(/** @type {boolean} */ is) {
    list.hidden = !is;
    input.setAttribute("aria-expanded", String(is));
    if (!is) input.removeAttribute("aria-activedescendant");
  }
  function close() {
    setOpen(false);
  }
  function choose(/** @type {Option} */ option) {
    input.value = option.value;
    close();
    input.dispatchEvent(new Event("change", { bubbles: true }));
    change(option.value);
  }
  function move(/** @type {number} */ to) {
    if (list.hidden) open("");
    active = (to + offered.length) % offered.length;
    for (const [at, item] of [...list.children].entries()) item.setAttribute("aria-selected", String(at === active));
    input.setAttribute("aria-activedescendant", `${list.id}-${active}`);
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }
  function pressed(/** @type {KeyboardEvent} */ event) {
    if (event.key === "ArrowDown") move(active + 1);
    else if (event.key === "ArrowUp") move(active < 0 ? -1 : active - 1);
    else if (event.key === "Enter" && !list.hidden && active >= 0) choose(offered[active]);
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  const element = field(label, input, hint);
  const wrapped = h("div", { class: "combobox" });
  input.replaceWith(wrapped);
  wrapped.append(input, list);
  return {
    element,
    input,
    get value() {
      return input.value.trim();
    },
    set value(to) {
      input.value = to;
    },
  };
}
