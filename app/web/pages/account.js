// Who is signed in, what it may spend, and a new key for itself.

import { call, key } from "../api.js";
import { confirmed, facts, fill, form, h } from "../dom.js";
import { time } from "../format.js";
import { gauge, windowNote } from "../gauges.js";
import { issued } from "../issued.js";

export async function account(me) {
  const told = h("div");
  const renew = async () => {
    if (!await confirmed("Make a new key for yourself? The old one stops working at once.", "Make a new key")) return;
    const answer = await call("POST", "/me/key");
    key.set(answer.key);
    fill(told, issued(answer));
  };
  return [
    facts([["Name", me.name], ["Role", me.role], ["Since", time(me.created_at)]]),
    h("section", { class: "card" }, h("h2", {}, "Allowances"),
      me.allowances.length === 0 ? h("p", {}, "None.")
        : me.allowances.map((each) => gauge(each.dataset, each, windowNote(each.window)))),
    form({ class: "card" }, renew, h("h2", {}, "Key"),
      h("p", {}, "Whoever has your key spends your allowances. This tab goes on with the new one."),
      h("button", { type: "submit" }, "Make a new key"), told),
  ];
}
