// The page of the signed-in principal: its name and role, what it may spend, and a new key.

import { call, key } from "../api.js";
import { gauge, windowNote } from "../ui/budget_gauge.js";
import { confirmed, facts, fill, form, h } from "../ui/dom.js";
import { time } from "../ui/format.js";
import { expiry, expiryField } from "../ui/key_expiry.js";
import { newKey } from "../ui/new_key.js";

export async function account(me) {
  const told = h("div");
  const renew = async () => {
    const until = expiryField("it expires when the old one does");
    const question = "Create a new key for yourself? The old one stops working at once.";
    if (!(await confirmed(question, "Create a new key", until.element))) return;
    const answer = await call("POST", "/me/key", until.body());
    key.set(answer.key);
    fill(told, newKey(answer));
  };
  return [
    facts([
      ["Name", me.name],
      ["Display name", me.display_name],
      ["Role", me.role],
      ["Since", time(me.created_at)],
      ["Key expires", h("span", {}, expiry(me))],
    ]),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Allowances"),
      me.allowances.length === 0
        ? h("p", {}, "None.")
        : me.allowances.map((each) => gauge(each.dataset, each, windowNote(each.window))),
    ),
    form(
      { class: "card" },
      renew,
      h("h2", {}, "Key"),
      h("p", {}, "Anybody with your key can spend your allowances. This tab uses the new one from now on."),
      h("button", { type: "submit" }, "Create a new key"),
      told,
    ),
  ];
}
