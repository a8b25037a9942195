// The frame around every page: the menu, the breadcrumb, the heading and the tabs of a dataset.

import { byId, fill, h } from "./element.js";

/** @typedef {import("./element.js").Content} Content */
/** @typedef {{ href: string, text: string, current?: boolean }} Link */

/**
 * What a page returns if it is more than content: `lead` is a sentence below the heading, `actions` stand beside it.
 * @typedef {{ content: Content, title?: string, lead?: Content, actions?: Content, crumbs?: Link[], badge?: Content }} Page
 */

/** Return what a page function returned as a page: content alone is a page too. */
export const asPage = (/** @type {any} */ made) =>
  /** @type {Page} */ (
    made !== null && typeof made === "object" && "content" in made && !(made instanceof Node) ? made : { content: made }
  );

const link = (/** @type {Link} */ { href, text, current }) =>
  h("a", { href, "aria-current": current ? "page" : null }, text);

const menu = byId("menu");
const button = byId("menu-button");

function openMenu(/** @type {boolean} */ open) {
  menu.classList.toggle("open", open);
  button.setAttribute("aria-expanded", String(open));
}
button.addEventListener("click", () => openMenu(!menu.classList.contains("open")));
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !menu.classList.contains("open")) return;
  openMenu(false);
  button.focus();
});

/**
 * Draw the menu of somebody who is signed in, or none.
 * @param {{ links: Link[], who: string, signOut: () => void } | null} parts
 */
export function drawMenu(parts) {
  openMenu(false);
  menu.hidden = button.hidden = parts === null;
  if (parts === null) return fill(menu);
  const { links, who, signOut } = parts;
  return fill(
    menu,
    links.map(link),
    h("span", { class: "who" }, who),
    h("button", { type: "button", class: "quiet small", click: signOut }, "Sign out"),
  );
}

/** Return the links between the pages of one dataset. */
export const tabs = (/** @type {string} */ label, /** @type {Link[]} */ links) =>
  h("nav", { class: "tabs", "aria-label": label }, links.map(link));

/** Scroll the tabs of a page, where they are wider than it, until the current one is in view. */
export function revealTab(/** @type {HTMLElement} */ page) {
  const [strip, current] = [".tabs", ".tabs [aria-current]"].map(
    (each) => /** @type {HTMLElement | null} */ (page.querySelector(each)),
  );
  if (strip && current)
    strip.scrollLeft = current.offsetLeft - strip.offsetLeft - (strip.clientWidth - current.offsetWidth) / 2;
}

/**
 * Return where the page is, its heading, its sentence and its actions.
 * @param {string} title
 * @param {Partial<Page>} [parts]
 */
export function pageHeading(title, { crumbs = [], lead, actions, badge } = {}) {
  return h(
    "div",
    { class: "page-heading" },
    h(
      "div",
      {},
      crumbs.length > 0 &&
        h(
          "nav",
          { class: "breadcrumb", "aria-label": "Breadcrumb" },
          h(
            "ol",
            {},
            crumbs.map((crumb) => h("li", {}, link(crumb))),
          ),
        ),
      h("h1", { tabindex: "-1" }, title),
      badge,
      lead && h("p", { class: "lead" }, lead),
    ),
    actions && h("div", { class: "buttons" }, actions),
  );
}
