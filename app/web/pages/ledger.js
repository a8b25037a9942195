// The page of a dataset's ledger: its verification, and its entries, newest first.

import { listedNewest, path } from "../api.js";
import { badge, card, h, help, longList, notice, table } from "../ui/dom.js";
import { people, time } from "../ui/format.js";
import { short, verification } from "../ui/hash_chain.js";

const HEADINGS = ["Entry", "What", "Principal", "ε", "Spent after it", "At", "Of", "Hash"];

/** What an entry of each kind records. @type {Record<string, string>} */
const KINDS = {
  open: "opened",
  seal: "sealed",
  allow: "allowance",
  revoke: "revoked",
  adjust: "new limit",
  debit: "release",
  write_off: "write-off",
  stale: "stale",
  revalidate: "checked again",
  close: "closed",
};

function row(/** @type {string} */ name, /** @type {any} */ entry, /** @type {(name: string) => string} */ named) {
  const id = entry.release_id;
  const what = badge(KINDS[entry.kind] ?? entry.kind, entry.kind === "debit" ? "accent" : undefined);
  const amount = entry.epsilon === "0" && entry.kind !== "allow" ? "" : entry.epsilon;
  return [
    String(entry.seq),
    what,
    named(entry.principal),
    amount,
    entry.epsilon_spent,
    time(entry.at),
    id
      ? h(
          "a",
          { href: `#${path("datasets", name, "releases", id)}`, "aria-label": `Release of entry ${entry.seq}` },
          "release",
        )
      : (entry.reason ?? (entry.window_days ? `every ${entry.window_days} days` : "")),
    short(entry.hash),
  ];
}

export async function ledger(/** @type {string} */ name, /** @type {any} */ _, /** @type {any} */ budget) {
  const at = `${path("datasets", name)}/ledger`;
  const [{ items, complete }, verifying] = await Promise.all([
    listedNewest(at, "entries"),
    verification(
      `${at}/verification`,
      "Verify the ledger",
      "Computes every hash and sum again, and lists what does not match. The service does so every hour by itself.",
    ),
  ]);
  const named = people(budget);
  return {
    lead: "Everything that was allowed and spent on this dataset, in an order that cannot be changed without being noticed.",
    content: [
      verifying,
      !complete && notice("warn", "Only the latest entries are shown: there are too many to load."),
      card(
        ["Entries ", help("entry")],
        longList({
          items,
          noun: "entry",
          textOf: (entry) =>
            `${entry.seq} ${KINDS[entry.kind]} ${named(entry.principal)} ${entry.reason ?? ""} ${entry.at}`,
          render: (shown) =>
            table(
              "Entries, newest first",
              HEADINGS,
              shown.map((entry) => row(name, entry, named)),
              [3, 4],
            ),
        }),
      ),
    ],
  };
}
