// The page of administrative acts, newest first, and their verification.

import { listedNewest } from "../api.js";
import { card, h, help, lines, longList, notice, table } from "../ui/dom.js";
import { time } from "../ui/format.js";
import { short, verification } from "../ui/hash_chain.js";

const HEADINGS = ["Act", "What", "By", "At", "Details"];

const details = (/** @type {Record<string, any>} */ of) =>
  Object.entries(of)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${value ?? "none"}`)
    .join(", ");

/** Return who did it: a principal, a user of the command line on the service's machine, or the service itself. */
const by = (/** @type {any} */ { via, actor }) =>
  via === "principal" ? actor : actor === null ? `the ${via}` : `${actor}, by ${via}`;

const target = (/** @type {any} */ record) => record.target ?? "the whole database";

/** Return what is public of an act, and behind a fold the ids that show that it was not changed. */
const more = (/** @type {any} */ record) => [
  h("span", { class: "anywhere" }, details(record.details)),
  h(
    "details",
    {},
    h("summary", {}, "Seal"),
    lines([
      ["Hash", short(record.hash)],
      ["Request", record.request_id && h("code", {}, record.request_id)],
    ]),
  ),
];

const row = (/** @type {any} */ record) => [
  String(record.seq),
  h("span", {}, h("code", {}, record.action), h("small", {}, target(record))),
  by(record),
  time(record.at),
  more(record),
];

export async function audit() {
  const [{ items, complete }, verifying] = await Promise.all([
    listedNewest("/audit", "records"),
    verification(
      "/audit/verification",
      "Verify the record",
      "Computes every hash again, and compares every principal and every request for budget with the audit log. The service does so every hour by itself.",
    ),
  ]);
  return {
    lead: "Who did what to principals, datasets, allowances and limits, and when.",
    content: [
      verifying,
      !complete && notice("warn", "Only the latest acts are shown: there are too many to load."),
      card(
        ["Acts ", help("audit log")],
        longList({
          items,
          noun: "act",
          textOf: (record) =>
            `${record.seq} ${record.action} ${target(record)} ${by(record)} ${details(record.details)} ${record.request_id ?? ""} ${record.at}`,
          render: (shown) => table("Administrative acts, newest first", HEADINGS, shown.map(row), []),
        }),
      ),
    ],
  };
}
