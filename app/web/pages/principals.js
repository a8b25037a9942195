// The page where admins manage principals, their roles and their keys.

import { call, listedNewest, path } from "../api.js";
import { confirmThenSend } from "../forms/confirm_then_send.js";
import { createPrincipal, SHOWN_HINT, shownName } from "../forms/new_principal.js";
import { badge, card, field, fill, h, help, longList, notice, table, toast } from "../ui/dom.js";
import { time } from "../ui/format.js";
import { expiry, expiryField } from "../ui/key_expiry.js";
import { newKey } from "../ui/new_key.js";

async function renew({ name }) {
  const until = expiryField();
  return confirmThenSend(
    {
      question: `Create a new key for ${name}?`,
      action: "Create a new key",
      harmful: true,
      content: [h("p", {}, "The old one stops working at once."), until.element],
      fields: { key_expires_at: until.input },
    },
    () => call("POST", `${path("principals", name)}/keys`, until.body()),
  );
}

async function rename({ name, display_name: before }) {
  const shown = shownName(before ?? "");
  const done = await confirmThenSend(
    {
      question: `How do people call ${name}?`,
      action: "Save",
      content: field("Display name", shown, SHOWN_HINT),
      fields: { display_name: shown },
    },
    () => call("PUT", `${path("principals", name)}/display-name`, { display_name: shown.value.trim() || null }),
  );
  if (done) toast(`The display name of ${name} is changed.`);
  return done;
}

async function disable({ name }) {
  const done = await confirmThenSend(
    {
      question: `Disable ${name} for good?`,
      action: "Disable",
      harmful: true,
      content: h(
        "ul",
        {},
        h("li", {}, "Its key stops working at once, and it cannot sign in again."),
        h("li", {}, "What it released and spent stays. Its datasets stay: an admin manages them."),
        h("li", {}, "Its name stays taken. This cannot be undone."),
      ),
    },
    () => call("DELETE", path("principals", name)),
  );
  if (done !== undefined) toast(`${name} is disabled.`);
  return done !== undefined;
}

export async function principals() {
  const list = h("div");
  const told = h("div", { role: "status" });
  /** Return a listener that does an act, shows a new key, and shows the list as it is then. */
  const doing = (act) => async () => {
    const done = await act();
    if (!done) return;
    fill(told, done.key && newKey(done));
    if (done.key) told.scrollIntoView({ block: "nearest" });
    await show();
  };
  const button = (text, label, act) =>
    h("button", { type: "button", class: "quiet", "aria-label": label, click: doing(act) }, text);
  const actions = (one) =>
    !one.disabled &&
    h(
      "div",
      { class: "buttons" },
      button("Display name", `Display name of ${one.name}`, () => rename(one)),
      button("New key", `New key for ${one.name}`, () => renew(one)),
      button("Disable", `Disable ${one.name}`, () => disable(one)),
    );
  const row = (one) => [
    h(
      "span",
      {},
      one.name,
      one.display_name && h("small", {}, one.display_name),
      one.disabled && badge("disabled", "warn"),
    ),
    one.role,
    time(one.created_at, new Date(one.created_at).toLocaleDateString([], { dateStyle: "medium" })),
    one.disabled ? "" : expiry(one),
    actions(one),
  ];
  async function show() {
    const { items, complete } = await listedNewest("/principals", "principals");
    fill(
      list,
      !complete && notice("warn", "Only the latest principals are shown: there are too many to load."),
      longList({
        items,
        noun: "principal",
        step: 25,
        textOf: ({ name, display_name: shown, role }) => `${name} ${shown ?? ""} ${role}`,
        render: (shown) =>
          table("Principals, newest first", ["Name", "Role", "Since", "Key expires", "Actions"], shown.map(row)),
      }),
    );
  }
  await show();
  return {
    lead: "Who may use the service, and as what.",
    actions: h("button", { type: "button", click: doing(() => createPrincipal()) }, "New principal"),
    content: [told, card(["Principals ", help("principal")], list)],
  };
}
