// Tables that can be read on a phone, and long lists: search, and "show more".

import { announce, fill, h, newId } from "./element.js";
import { plural } from "./format.js";

/** @typedef {import("./element.js").Content} Content */

const STACKS_FROM = 3; // columns: a narrow table of so many becomes a list of cards
const STEP = 50;
const STEP_ON_A_PHONE = 12; // rows are cards there
const isNarrow = () => matchMedia("(max-width: 40rem)").matches;

/**
 * Return a table with a caption. `numeric` has the positions of numeric columns; a row's first cell is its header.
 * @param {string} caption
 * @param {Content[]} headings
 * @param {Content[][]} rows
 * @param {number[]} [numeric]
 * @param {{ stacks?: boolean }} [properties] whether each row becomes a card where the table is narrow
 */
export function table(caption, headings, rows, numeric = [], { stacks = headings.length >= STACKS_FROM } = {}) {
  const style = (/** @type {number} */ position) => (numeric.includes(position) ? "number" : null);
  const cell = (/** @type {Content} */ content, /** @type {number} */ position) => {
    const first = position === 0;
    const nothing = content == null || content === "" || content === false;
    const heading = headings[position];
    return h(
      first ? "th" : "td",
      {
        role: first ? "rowheader" : "cell",
        scope: first ? "row" : null,
        class: style(position),
        "data-label": !first && typeof heading === "string" ? heading : null,
      },
      nothing ? null : h("span", {}, content),
    );
  };
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      { role: "table", class: stacks && "stacks" },
      h("caption", {}, caption),
      h(
        "thead",
        { role: "rowgroup" },
        h(
          "tr",
          { role: "row" },
          headings.map((text, at) => h("th", { scope: "col", role: "columnheader", class: style(at) }, text)),
        ),
      ),
      h(
        "tbody",
        { role: "rowgroup" },
        rows.map((row) => h("tr", { role: "row" }, row.map(cell))),
      ),
    ),
  );
}

/**
 * Return a list of which `step` items are shown at first, with a search box if there are more, and "show more".
 * `render` returns the element that shows some of the items; `textOf` what is searched.
 * @template Item
 * @param {{ items: Item[], noun: string, textOf: (item: Item) => string, render: (shown: Item[]) => Content, step?: number }} parts
 */
export function longList({ items, noun, textOf, render, step = isNarrow() ? STEP_ON_A_PHONE : STEP }) {
  const [list, foot] = [h("div"), h("div", { class: "more" })];
  const id = newId("search");
  const box = h("input", { type: "search", id, autocomplete: "off", input: () => show(step) });
  const texts = items.map((item) => textOf(item).toLowerCase());
  function show(/** @type {number} */ most) {
    const sought = box.value.trim().toLowerCase();
    const found = sought === "" ? items : items.filter((_, at) => texts[at].includes(sought));
    fill(
      list,
      found.length > 0
        ? render(found.slice(0, most))
        : h("p", { class: "muted" }, `No ${noun} has “${box.value.trim()}”.`),
    );
    const rest = found.length - most;
    const more = () => {
      show(most + step);
      announce(`${Math.min(most + step, found.length)} of ${found.length} are shown.`);
    };
    fill(
      foot,
      rest > 0 && [
        `${most} of ${found.length} ${plural(noun)}`,
        h("button", { type: "button", class: "quiet small", click: more }, `Show ${Math.min(rest, step)} more`),
      ],
    );
    foot.hidden = rest <= 0;
  }
  show(step);
  return h(
    "div",
    { class: "long-list" },
    items.length > step &&
      h("div", { class: "search" }, h("label", { for: id, class: "visually-hidden" }, `Search ${plural(noun)}`), box),
    list,
    foot,
  );
}
