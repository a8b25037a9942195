// The page of a collection of figures: its figures, its board, and for those who manage it its viewers.

import { call, get, path } from "../api.js";
import { audienceBadge, figureCard } from "../figures/figure_list.js";
import { viewersCard } from "../figures/viewers.js";
import { confirmThenSend } from "../forms/confirm_then_send.js";
import { copyText } from "../ui/copy.js";
import { card, h, notice, toast } from "../ui/dom.js";
import { count } from "../ui/format.js";

async function remove(/** @type {string} */ name) {
  const done = await confirmThenSend(
    {
      question: `Delete the collection ${name}?`,
      action: "Delete",
      harmful: true,
      content: h("p", {}, "Its board is gone, and its viewers no longer see its figures. The figures stay published."),
    },
    () => call("DELETE", path("collections", name)),
  );
  if (done === undefined) return;
  toast(`The collection ${name} is deleted.`);
  location.hash = "#/figures";
}

/** Return the buttons of those who manage a collection. */
const actions = (/** @type {any} */ found, /** @type {() => void} */ reload) => [
  h(
    "button",
    {
      type: "button",
      class: "quiet",
      click: async () => {
        const { composeCollection } = await import("../figures/compose_form.js");
        if (await composeCollection(found)) reload();
      },
    },
    "Change",
  ),
  h("button", { type: "button", class: "quiet", click: () => remove(found.name) }, "Delete"),
];

/** Return the address of the board, for screens and frames. */
function boardCard(/** @type {string} */ name) {
  const at = path("collections", name);
  const address = `${location.origin}${at}`;
  return card("Board", [
    h(
      "p",
      { class: "row" },
      h("a", { href: at, target: "_blank", rel: "noopener" }, address),
      h(
        "button",
        { type: "button", class: "quiet small", click: () => copyText(address, "The address") },
        "Copy the address",
      ),
    ),
    h(
      "p",
      { class: "muted" },
      "A page with all charts, for a wall screen. With ?refresh=60 at its end it is loaded again every minute.",
    ),
  ]);
}

/**
 * Return the page of a collection.
 * @param {any} me
 * @param {string} name
 * @param {() => void} reload
 */
export async function collection(me, name, reload) {
  const found = await get(path("collections", name));
  const isManaged = found.owner !== null;
  const rules = isManaged && me.role !== "auditor";
  const shown = found.figures.filter((/** @type {any} */ { withdrawn }) => !withdrawn);
  const gone = found.figures.length - shown.length;
  const [first] = found.figures.filter((/** @type {any} */ { dataset }) => dataset !== null);
  const viewers = {
    at: path("collections", name),
    grantees: `${path("datasets", first?.dataset ?? "")}/grantees?to=view`,
    told: "It sees the figures that are in the collection, and nothing else of their datasets. It cannot spend.",
  };
  return {
    title: found.title,
    badge: audienceBadge(found.audience),
    lead: found.note,
    actions: rules && actions(found, reload),
    content: [
      gone > 0 && notice("info", `${count(gone, "figure")} of it ${gone === 1 ? "is" : "are"} withdrawn.`),
      h("ul", { class: "cards" }, shown.map(figureCard)),
      boardCard(name),
      isManaged && (await viewersCard(viewers, me, rules && first !== undefined)),
    ],
  };
}
