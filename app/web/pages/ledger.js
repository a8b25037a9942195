// The page of a dataset's ledger, newest entry first, and its verification.

import { listed, path } from "../api.js";
import { h } from "../ui/dom.js";
import { number, people, time } from "../ui/format.js";
import { inParts, short, verification } from "../ui/hash_chain.js";


function row(name, entry, named) {
  const id = entry.release_id;
  return [number(entry.seq), entry.kind.replace("_", "-"), named(entry.principal), entry.epsilon, entry.epsilon_spent,
    time(entry.at), id ? h("a", { href: `#${path("datasets", name, "releases", id)}` }, "release") : entry.reason ?? "",
    short(entry.hash)];
}

const HEADINGS = ["Entry", "Kind", "Principal", "ε", "Spent after it", "At", "Of", "Hash"];

export async function ledger(name, _, budget) {
  const at = `${path("datasets", name)}/ledger`;
  const { items, complete } = await listed(at, "entries");
  return [
    verification(`${at}/verification`, "Verify the ledger", "Computes every hash and sum again, and lists what does not match."),
    !complete && h("p", { class: "notice" }, "Only the earliest entries are shown: there are too many to load."),
    inParts("Entries, newest first", HEADINGS, items.toReversed(), (entry) => row(name, entry, people(budget)), [3, 4]),
  ];
}
