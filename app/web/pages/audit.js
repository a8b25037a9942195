// The page of administrative acts, newest first, and their verification.

import { listed } from "../api.js";
import { h } from "../ui/dom.js";
import { number, time } from "../ui/format.js";
import { inParts, short, verification } from "../ui/hash_chain.js";

const HEADINGS = ["Act", "What", "On", "By", "At", "Details", "Request", "Hash"];

const details = (of) => Object.entries(of).map(([name, value]) => `${name}: ${value ?? "none"}`).join(", ");

/** Return who did it: a principal, a user of the command line on the service's machine, or the service itself. */
const by = ({ via, actor }) => (via === "principal" ? actor : actor === null ? via : `${actor}, by ${via}`);

const row = (record) => [number(record.seq), record.action, record.target ?? "the whole database", by(record),
  time(record.at), details(record.details), record.request_id ?? "", short(record.hash)];

export async function audit() {
  const { items, complete } = await listed("/audit", "records");
  return [
    verification("/audit/verification", "Verify the record",
      "Computes every hash again, and compares every principal with the audit log."),
    !complete && h("p", { class: "notice" }, "Only the earliest acts are shown: there are too many to load."),
    inParts("Administrative acts, newest first", HEADINGS, items.toReversed(), row, []),
  ];
}
