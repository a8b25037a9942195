// The form that makes a collection of figures, or changes one: which figures, in which order, and for whom.

import { call, listed, path } from "../api.js";
import { confirmThenSend } from "../forms/confirm_then_send.js";
import { combobox, fill, h, setError, toast } from "../ui/dom.js";
import { audienceFields } from "./audience_fields.js";
import { proposeName } from "./names.js";
import { textFields } from "./text_fields.js";

/** @typedef {import("./addresses.js").Named & { title: string | null }} Member */

const MOST = 100; // figures of a collection
const keyOf = (/** @type {Member} */ { dataset, figure }) => `${dataset}/${figure}`;

/** Return a field that chooses figures in an order; `all` are those that can be chosen. */
function memberFields(/** @type {Member[]} */ all, /** @type {Member[]} */ given) {
  const members = [...given];
  const list = h("ol", { class: "plain" });
  const choice = combobox(
    "Add a figure",
    all.map((each) => ({ value: keyOf(each), text: each.title ?? keyOf(each), note: keyOf(each) })),
    { change: (/** @type {string} */ value) => add(value) },
  );
  function add(/** @type {string} */ value) {
    const found = all.find((each) => keyOf(each) === value);
    if (!found) return; // still being typed
    if (!members.some((each) => keyOf(each) === value)) members.push(found);
    choice.value = "";
    setError(choice.input, null);
    show();
  }
  function move(/** @type {number} */ from, /** @type {number} */ to) {
    members.splice(to, 0, ...members.splice(from, 1));
    show();
  }
  const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ click) =>
    h("button", { type: "button", class: "quiet small", "aria-label": label, click }, text);
  const row = (/** @type {Member} */ each, /** @type {number} */ at) => {
    const name = each.title ?? keyOf(each);
    return h(
      "li",
      { class: "item" },
      h("span", {}, name, h("small", {}, keyOf(each))),
      h(
        "div",
        { class: "buttons" },
        at > 0 && button("↑", `Move ${name} up`, () => move(at, at - 1)),
        at < members.length - 1 && button("↓", `Move ${name} down`, () => move(at, at + 1)),
        button("Remove", `Remove ${name}`, () => {
          members.splice(at, 1);
          show();
        }),
      ),
    );
  };
  function show() {
    fill(list, members.map(row));
  }
  const check = () => {
    const wrong =
      members.length === 0
        ? "Choose at least one figure."
        : members.length > MOST
          ? `A collection has at most ${MOST} figures.`
          : null;
    setError(choice.input, wrong);
    return wrong === null;
  };
  show();
  return { content: [choice.element, list], input: choice.input, check, members };
}

/**
 * Ask for a collection's title, figures and audience, and make it or change it; return it, or undefined if the user
 * went back. `current` is the collection that is changed, which keeps its name.
 * @param {any} [current]
 */
export async function composeCollection(current = null) {
  const { items } = await listed("/figures", "figures", 100);
  const chosen = memberFields(
    items,
    (current?.figures ?? []).filter((/** @type {any} */ { figure }) => figure !== null),
  );
  let isNamed = current !== null;
  const texts = textFields({ name: current?.name ?? "", title: current?.title ?? "", note: current?.note }, () => {
    isNamed = true;
  });
  const { name, title, note } = texts;
  title.addEventListener("input", () => {
    if (!isNamed) name.value = title.value.trim() === "" ? "" : proposeName(title.value);
  });
  const audience = audienceFields("its viewers", true, current?.audience ?? "viewers");
  const made = await confirmThenSend(
    {
      question: current === null ? "New collection" : `Change ${current.name}`,
      action: current === null ? "Make the collection" : "Save the collection",
      content: [
        texts.titleField(),
        current === null && texts.nameField(),
        texts.noteField(),
        chosen.content,
        audience.content,
        h(
          "p",
          { class: "muted" },
          "Its viewers see the figures that are in it. Figures that are not public stay hidden from everybody else.",
        ),
      ],
      fields: { title, name, note, figures: chosen.input, confirm_public: audience.confirm },
      check: () => [texts.check(), chosen.check(), audience.check()].every(Boolean),
    },
    () =>
      call("PUT", path("collections", name.value.trim()), {
        ...texts.requested(),
        figures: chosen.members.map(({ dataset, figure }) => ({ dataset, figure })),
        audience: audience.who.value,
        confirm_public: audience.who.value === "public",
      }),
  );
  if (made) toast(`The collection ${made.name} is saved.`);
  return made;
}
