// A dataset's ledger, newest entry first, and its verification.

import { get, listed, path } from "../api.js";
import { facts, fill, form, h, table } from "../dom.js";
import { count, number, time } from "../format.js";

const PAGE = 100;
const short = (hash) => (hash ? h("code", { title: hash }, hash.slice(0, 12)) : "");

function row(name, entry) {
  const id = entry.release_id;
  return [number(entry.seq), entry.kind.replace("_", "-"), entry.principal, entry.epsilon, entry.epsilon_spent,
    time(entry.at), id ? h("a", { href: `#${path("datasets", name, "releases", id)}` }, "release") : entry.reason ?? "",
    short(entry.hash)];
}

const HEADINGS = ["Entry", "Kind", "Principal", "ε", "Spent after it", "At", "Of", "Hash"];

function entries(name, newestFirst) {
  const place = h("div");
  const show = (from) => fill(place,
    table("Entries, newest first", HEADINGS, newestFirst.slice(from, from + PAGE).map((entry) => row(name, entry)), [3, 4]),
    h("div", { class: "buttons" },
      from > 0 && h("button", { type: "button", class: "quiet", click: () => show(from - PAGE) }, "Newer entries"),
      from + PAGE < newestFirst.length
        && h("button", { type: "button", class: "quiet", click: () => show(from + PAGE) }, "Older entries")));
  show(0);
  return place;
}

function found({ valid, entries: many, head, problems }) {
  const where = ({ seq, what }) => h("li", {}, seq === null ? what : `entry ${seq}: ${what}`);
  return [
    h("p", { class: valid ? "verdict" : "verdict refused" },
      h("strong", {}, valid ? `Valid: ${count(many, "entry").replace("entrys", "entries")}.` : "Not valid.")),
    problems.length > 0 && h("ul", {}, problems.map(where)),
    facts([["Head", head && h("code", {}, head)]]),
  ];
}

export async function ledger(name) {
  const at = `${path("datasets", name)}/ledger`;
  const { items, complete } = await listed(at, "entries");
  const outcome = h("div", { role: "status" });
  const verify = async () => {
    fill(outcome, "Computing the chain and the sums again …");
    try {
      fill(outcome, found(await get(`${at}/verification`)));
    } catch (error) {
      fill(outcome);
      throw error;
    }
  };
  return [
    form({ class: "card" }, verify, h("h2", {}, "Verification"),
      h("p", {}, "Computes every hash and every sum again, and says what does not agree."),
      h("button", { type: "submit" }, "Verify the ledger"), outcome),
    !complete && h("p", { class: "notice" }, "Only the earliest entries are shown: there are too many to fetch all."),
    entries(name, items.toReversed()),
  ];
}
