// The page of what was spent: by whom, on what and when, for those who may see everybody's spending.

import { listedNewest, path } from "../api.js";
import { card, empty, fill, h, longList, notice, table } from "../ui/dom.js";
import { ago, costText, people, statistic, sumOf, time } from "../ui/format.js";

/** Return the debits of each principal, the one who spent most first. */
function byPrincipal(/** @type {any[]} */ debits) {
  const groups = new Map();
  for (const debit of debits) groups.set(debit.principal, [...(groups.get(debit.principal) ?? []), debit]);
  return [...groups]
    .map(([principal, own]) => ({ principal, own, total: sumOf(own.map((/** @type {any} */ { epsilon }) => epsilon)) }))
    .sort((one, other) => Number(other.total) - Number(one.total));
}

export async function activity(/** @type {string} */ name, /** @type {any} */ _, /** @type {any} */ budget) {
  const [entries, released] = await Promise.all([
    listedNewest(`${path("datasets", name)}/ledger`, "entries"),
    listedNewest(`${path("datasets", name)}/releases`, "releases", 100),
  ]);
  const asked = new Map(released.items.map((release) => [release.id, statistic(release.statistic)]));
  const named = people(budget);
  const debits = entries.items.filter(({ kind }) => kind === "debit" || kind === "write_off");
  if (debits.length === 0)
    return empty(
      "Nothing has been spent yet",
      "Each release will be listed here: who asked, for what, when, and what it cost.",
    );
  const what = (/** @type {any} */ { release_id: id, reason }) =>
    id === null ? `written off: ${reason}` : (asked.get(id) ?? "a release");
  const link = (/** @type {any} */ debit) =>
    debit.release_id === null
      ? what(debit)
      : h("a", { href: `#${path("datasets", name, "releases", debit.release_id)}` }, what(debit));
  const list = h("div");
  /** @type {string | null} */
  let chosen = null;
  const groups = byPrincipal(debits);
  const chips = h("div", { class: "chips", role: "group", "aria-label": "By whom" });
  function show() {
    const chip = (/** @type {string | null} */ who, /** @type {string} */ text) =>
      h(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-pressed": String(chosen === who),
          click: () => {
            chosen = who;
            show();
          },
        },
        text,
      );
    fill(
      chips,
      chip(null, "Everybody"),
      groups.map(({ principal }) => chip(principal, named(principal))),
    );
    fill(
      list,
      longList({
        items: debits.filter(({ principal }) => chosen === null || principal === chosen),
        noun: "release",
        textOf: (debit) => `${named(debit.principal)} ${what(debit)} ${debit.at}`,
        render: (shown) =>
          table(
            "What was spent, newest first",
            ["What", "Principal", "ε", "At"],
            shown.map((debit) => [link(debit), named(debit.principal), costText(debit.epsilon), time(debit.at)]),
            [2],
          ),
      }),
    );
  }
  show();
  return {
    lead: "What was spent: by whom, on what and when.",
    content: [
      !(entries.complete && released.complete) &&
        notice("warn", "Only the latest part is shown: there is too much to load."),
      card(
        "By principal",
        longList({
          items: groups,
          noun: "principal",
          textOf: ({ principal }) => named(principal),
          render: (shown) =>
            table(
              "Who spent how much",
              ["Principal", "ε", "Releases", "Last"],
              shown.map(({ principal, own, total }) => [
                named(principal),
                costText(total),
                String(own.length),
                ago(own[0].at),
              ]),
              [1, 2],
            ),
        }),
      ),
      card("Every release", [groups.length > 1 && groups.length <= 12 && chips, list]),
    ],
  };
}
