// A list of figures, found and continued by the service: a search box, cards with their charts, "Show more".

import { get } from "../api.js";
import { debounce } from "../ui/debounce.js";
import { alertOf, announce, badge, fill, h, newId } from "../ui/dom.js";
import { time } from "../ui/format.js";
import { screenAddress } from "./addresses.js";
import { picture } from "./picture.js";

const STEP = 24; // cards at a time
const FEW = 6; // are seen at a glance, without a search box
const SETTLE_MS = 250;

/** Return who may see a figure besides those who see its dataset. */
export const audienceBadge = (/** @type {string} */ audience) =>
  audience === "public" ? badge("public", "warn") : badge("for viewers");

/** Return the card of a figure; `audience` is shown if it is known. */
export const figureCard = (/** @type {any} */ figure) =>
  h(
    "li",
    { class: "card" },
    h(
      "h2",
      {},
      h("a", { class: "card-link", href: screenAddress(figure) }, figure.title),
      figure.audience && audienceBadge(figure.audience),
    ),
    picture(figure),
    h(
      "p",
      { class: "muted" },
      `${figure.dataset}, version ${figure.version}, `,
      time(figure.published_at, new Date(figure.published_at).toLocaleDateString([], { dateStyle: "medium" })),
    ),
  );

/**
 * Return the figures of a list of the interface; `none` stands in their place if there are none.
 * @param {string} from the path of the list
 * @param {import("../ui/element.js").Content} none
 */
export async function figureList(from, none) {
  const [list, foot, trouble] = [h("ul", { class: "cards" }), h("div", { class: "more" }), h("div")];
  const nothing = h("p", { class: "muted", hidden: true });
  const id = newId("search");
  const box = h("input", { type: "search", id, autocomplete: "off", maxlength: 255 });
  const page = (/** @type {string} */ sought, /** @type {string | null} */ after) =>
    get(
      `${from}?limit=${STEP}${sought && `&search=${encodeURIComponent(sought)}`}${after === null ? "" : `&after=${encodeURIComponent(after)}`}`,
    );
  let turn = 0;

  function add(/** @type {any} */ { figures, next }, /** @type {string} */ sought) {
    list.append(...figures.map(figureCard));
    const more = h("button", { type: "button", class: "quiet small", click: () => load(sought, next) }, "Show more");
    fill(foot, next !== null && more);
    foot.hidden = next === null;
    nothing.hidden = list.childElementCount > 0 || next !== null; // a page of a search may have none
    fill(nothing, `No figure has “${sought}” in its name or title.`);
  }
  async function load(/** @type {string} */ sought, /** @type {string | null} */ after) {
    const mine = ++turn;
    fill(trouble);
    try {
      const found = await page(sought, after);
      if (mine !== turn) return; // something else is sought in the meantime
      if (after === null) fill(list);
      add(found, sought);
      announce(`${list.childElementCount} figures are shown.`);
    } catch (error) {
      if (mine === turn) fill(trouble, alertOf(error));
    }
  }
  const first = await page("", null);
  if (first.figures.length === 0 && first.next === null) return none;
  add(first, "");
  box.addEventListener(
    "input",
    debounce(() => load(box.value.trim(), null), SETTLE_MS),
  );
  const isLong = first.next !== null || first.figures.length > FEW;
  return h(
    "div",
    {},
    isLong &&
      h(
        "div",
        { class: "search" },
        h("label", { for: id, class: "visually-hidden" }, "Search figures by name or title"),
        box,
      ),
    trouble,
    list,
    nothing,
    foot,
  );
}
