// The viewers of a dataset or of a collection: who may see its figures, and nothing else.

import { call, listed, path } from "../api.js";
import { checkText } from "../forms/amounts.js";
import { confirmThenSend } from "../forms/confirm_then_send.js";
import { createPrincipal } from "../forms/new_principal.js";
import { alertOf, card, combobox, fill, h, help, longList, setError, toast } from "../ui/dom.js";
import { person, time } from "../ui/format.js";
import { newKey } from "../ui/new_key.js";

/**
 * @typedef {{ at: string, grantees: string, told: string }} Of the path whose figures are seen, that of the list of
 * those who may be chosen, and what a viewer will see
 */

const pathOf = (/** @type {Of} */ { at }, /** @type {string} */ principal) => `${at}/viewers${path(principal)}`;

/** Let a principal see the figures; return whether it may now. */
async function grant(/** @type {Of} */ of) {
  const { items } = await listed(of.grantees, "grantees");
  const options = items.map(({ name, display_name: shown, role }) => ({
    value: name,
    text: person(name, shown),
    note: role,
  }));
  const who = combobox("Principal", options, { hint: "Type a part of the name or of what people call it." });
  const isKnown = () => {
    const known = options.some(({ value }) => value === who.value);
    if (!known) setError(who.input, `There is no principal “${who.value}”.`);
    return known;
  };
  const done = await confirmThenSend(
    {
      question: "Add a viewer",
      action: "Let it see the figures",
      content: [who.element, h("p", { class: "muted" }, of.told)],
      fields: { principal: who.input },
      check: () => checkText(who.input, "Choose who may see the figures.") && isKnown(),
    },
    () => call("PUT", pathOf(of, who.value)),
  );
  if (done === undefined) return false;
  toast(`${who.value} may see the figures.`);
  return true;
}

async function revoke(/** @type {Of} */ of, /** @type {string} */ name) {
  const done = await confirmThenSend(
    {
      question: `Revoke what ${name} may see?`,
      action: "Revoke",
      harmful: true,
      content: h(
        "ul",
        {},
        h("li", {}, "It no longer sees these figures, unless they are public or it may see them otherwise."),
        h("li", {}, "You can add it again later."),
      ),
    },
    () => call("DELETE", pathOf(of, name)),
  );
  if (done !== undefined) toast(`${name} no longer sees the figures.`);
  return done !== undefined;
}

/** Return the viewers of a dataset's figures. @returns {Of} */
export const viewersOfDataset = (/** @type {string} */ dataset) => ({
  at: path("datasets", dataset),
  grantees: `${path("datasets", dataset)}/grantees?to=view`,
  told: "It sees all figures of this dataset, those that are published later too, and nothing else of it: no plan, no budget, no ledger. It cannot spend.",
});

/**
 * Return the card of viewers: those who rule add and revoke them, and an admin also creates them.
 * @param {Of} of
 * @param {{ role: string }} me
 * @param {boolean} rules whether the user may change them
 */
export async function viewersCard(of, me, rules) {
  const [place, told] = [h("div"), h("div", { role: "status" })];
  const doing = (/** @type {() => Promise<any>} */ act) => async () => {
    try {
      if (await act()) await load();
    } catch (error) {
      fill(told, alertOf(error));
    }
  };
  const create = async () => {
    const issued = await createPrincipal("viewer");
    if (issued === undefined) return false;
    fill(told, newKey(issued));
    await call("PUT", pathOf(of, issued.name));
    return true;
  };
  const row = (/** @type {any} */ { name, display_name: shown, granted_at: since }) =>
    h(
      "li",
      { class: "item" },
      h("span", {}, person(name, shown), h("small", {}, "since ", time(since))),
      rules &&
        h(
          "button",
          {
            type: "button",
            class: "quiet small",
            "aria-label": `Revoke what ${name} may see`,
            click: doing(() => revoke(of, name)),
          },
          "Revoke",
        ),
    );
  async function load() {
    const { items } = await listed(`${of.at}/viewers`, "viewers");
    fill(
      place,
      items.length === 0
        ? h("p", { class: "muted" }, "Nobody has been added.")
        : longList({
            items,
            noun: "viewer",
            step: 10,
            textOf: ({ name, display_name: shown }) => `${name} ${shown ?? ""}`,
            render: (some) => h("ul", { class: "plain" }, some.map(row)),
          }),
    );
  }
  await load();
  const button = (/** @type {string} */ text, /** @type {() => void} */ click, /** @type {string} */ style) =>
    h("button", { type: "button", class: style, click }, text);
  return card(["Viewers ", help("viewer")], [told, place], {
    aside:
      rules &&
      h(
        "div",
        { class: "buttons" },
        me.role === "admin" && button("New viewer", doing(create), "quiet small"),
        button(
          "Add a viewer",
          doing(() => grant(of)),
          "small",
        ),
      ),
  });
}
