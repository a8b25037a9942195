// The page of the signed-in principal: its name and role, what it may spend, and a new key.

import { call, path } from "../api.js";
import { askForBudget } from "../forms/budget_request.js";
import { confirmThenSend } from "../forms/confirm_then_send.js";
import { hasAccount, key } from "../session.js";
import { gauge, windowNote } from "../ui/budget_gauge.js";
import { card, empty, fill, h, help, lines, longList, term } from "../ui/dom.js";
import { time } from "../ui/format.js";
import { expiry, expiryField } from "../ui/key_expiry.js";
import { newKey } from "../ui/new_key.js";

const allowanceItem = (allowance) =>
  h(
    "li",
    { class: "item" },
    gauge(
      h("a", { href: `#${path("datasets", allowance.dataset)}` }, allowance.dataset),
      allowance,
      windowNote(allowance.window),
    ),
    h(
      "button",
      {
        type: "button",
        class: "quiet small",
        "aria-label": `Ask for more budget on ${allowance.dataset}`,
        click: () => askForBudget(allowance.dataset, allowance),
      },
      "Ask for more",
    ),
  );

export async function account(me) {
  const told = h("div");
  const renew = async () => {
    const until = expiryField("it expires when the old one does");
    const answer = await confirmThenSend(
      {
        question: "Create a new key for yourself? The old one stops working at once.",
        action: "Create a new key",
        harmful: true,
        content: until.element,
      },
      () => call("POST", "/me/key", until.body()),
    );
    if (answer === undefined) return;
    key.set(answer.key);
    fill(told, newKey(answer));
  };
  return [
    h(
      "div",
      { class: "split" },
      card(
        ["Allowances ", help("allowance")],
        me.allowances.length === 0
          ? empty("No allowances", "The owner of a dataset can grant you one: tell them your name.")
          : longList({
              items: me.allowances,
              noun: "allowance",
              step: 10,
              textOf: ({ dataset }) => dataset,
              render: (shown) => h("ul", { class: "plain" }, shown.map(allowanceItem)),
            }),
      ),
      h(
        "div",
        {},
        card(
          "You",
          lines([
            ["Name", me.name],
            ["Display name", me.display_name],
            [term("role", "Role"), me.role],
            ["Since", time(me.created_at)],
            hasAccount()
              ? ["Signed in with", "your organisation's account"]
              : ["Key expires", h("span", {}, expiry(me))],
          ]),
        ),
        !hasAccount() &&
          card("Key", [
            h("p", {}, "Anybody with your key can spend your allowances. This tab uses the new one from now on."),
            h("button", { type: "button", class: "quiet", click: renew }, "Create a new key"),
            told,
          ]),
      ),
    ),
  ];
}
