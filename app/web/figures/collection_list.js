// The collections of figures that the user may see, and for owners the button that makes one.

import { listed, path } from "../api.js";
import { card, h, longList } from "../ui/dom.js";
import { count, time } from "../ui/format.js";
import { audienceBadge } from "./figure_list.js";

const item = (/** @type {any} */ { name, title, audience, changed_at: at }) =>
  h(
    "li",
    { class: "item" },
    h("span", {}, h("a", { href: `#${path("collections", name)}` }, title), " ", audienceBadge(audience)),
    h("span", { class: "muted" }, time(at)),
  );

/** Return the card of collections; null if there are none and the user makes none. */
export async function collectionsCard(/** @type {{ role: string }} */ { role }) {
  const { items } = await listed("/collections", "collections", 100);
  const mayCompose = role === "owner" || role === "admin";
  if (items.length === 0 && !mayCompose) return null;
  const compose = async () => {
    const { composeCollection } = await import("./compose_form.js");
    const made = await composeCollection();
    if (made) location.hash = `#${path("collections", made.name)}`;
  };
  return card(
    items.length === 0 ? "Collections" : count(items.length, "collection"),
    items.length === 0
      ? h("p", { class: "muted" }, "Several figures under one address, in an order, as a board for a wall screen.")
      : longList({
          items,
          noun: "collection",
          step: 6,
          textOf: ({ name, title }) => `${name} ${title}`,
          render: (some) => h("ul", { class: "plain" }, some.map(item)),
        }),
    { aside: mayCompose && h("button", { type: "button", class: "quiet small", click: compose }, "New collection") },
  );
}
