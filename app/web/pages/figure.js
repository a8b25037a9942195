// The page of one figure, or of one of its versions: its charts, where it comes from, its files, and how it is changed.

import { get, listedNewest, path } from "../api.js";
import { derivedAddress } from "../derived_address.js";
import { figurePath, rowsAddress, screenAddress } from "../figures/addresses.js";
import { changeActions } from "../figures/change_figure.js";
import { figureCharts } from "../figures/figure_charts.js";
import { audienceBadge } from "../figures/figure_list.js";
import { publisherOf } from "../figures/publisher.js";
import { sharedConditions } from "../figures/row_texts.js";
import { fileLink, takeAway } from "../figures/take_away.js";
import { card, h, lines, longList, notice, table } from "../ui/dom.js";
import { confidence, costText, time } from "../ui/format.js";

const SHOWN_SOURCES = 10;

/** @returns {Promise<any>} the answer, or null if there is no such thing, or the user may not see it */
const unless404 = (/** @type {Promise<any>} */ awaited) =>
  awaited.catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });

/** Return what a figure shows, as links for those who see the dataset. */
function sourceLinks(/** @type {any} */ { dataset, source }) {
  if (source.derived) return h("a", { href: derivedAddress(dataset, source.derived) }, "a derived answer");
  const links = source.releases
    .slice(0, SHOWN_SOURCES)
    .map((/** @type {string} */ id) =>
      h("div", {}, h("a", { href: `#${path("datasets", dataset, "releases", id)}` }, id.slice(0, 13))),
    );
  const rest = source.releases.length - SHOWN_SOURCES;
  return [links, rest > 0 && h("div", {}, `and ${rest} more`)];
}

const unique = (/** @type {any[]} */ values) => [...new Set(values)];

/** Return the facts of a version. */
function factsCard(/** @type {any} */ shown, /** @type {boolean} */ seesDataset) {
  const { dataset, figure, rows, version, published_at: at, published_by: by } = shown;
  const released = unique(rows.map((/** @type {any} */ row) => row.released_at)).sort();
  const [first, last] = [released[0], released[released.length - 1]];
  return card(
    "About",
    lines([
      ["Dataset", seesDataset ? h("a", { href: `#${path("datasets", dataset)}` }, dataset) : dataset],
      ["Name", figure],
      ["Conditions", sharedConditions(rows) || null],
      ["Version", String(version)],
      ["Published", time(at)],
      ["By", by],
      ["Released", first && [time(first), first !== last && [" to ", time(last)]]],
      ["Confidence", unique(rows.map((/** @type {any} */ row) => confidence(row.alpha))).join(", ")],
      ["ε", unique(rows.map((/** @type {any} */ row) => costText(row.epsilon))).join(", ")],
      ["Shows", seesDataset && sourceLinks(shown)],
    ]),
  );
}

/** Return the versions of a figure, newest first. */
function versionsCard(/** @type {any[]} */ versions, /** @type {number} */ shown) {
  const row = (/** @type {any} */ each) => [
    each.version === shown
      ? `${each.version} (shown)`
      : h("a", { href: screenAddress(each, each === versions[0] ? null : each.version) }, String(each.version)),
    each.title,
    each.audience === "public" ? "everybody" : "viewers",
    each.published_by,
    time(each.published_at),
    fileLink("CSV", rowsAddress(each, "csv", each.version), `Save version ${each.version} as csv`),
  ];
  return card(
    "Versions",
    longList({
      items: versions,
      noun: "version",
      step: 10,
      textOf: (each) => `${each.version} ${each.title} ${each.published_by ?? ""}`,
      render: (some) =>
        table("Versions, newest first", ["Version", "Title", "For", "Published by", "At", "Rows"], some.map(row)),
    }),
  );
}

/**
 * Return the page of a figure, or null if there is none, or the user may not see it.
 * @param {any} me
 * @param {import("../figures/addresses.js").Named} named
 * @param {number | null} version
 * @param {() => void} reload
 */
export async function figure(me, named, version, reload) {
  const mayEnter = me.role !== "viewer";
  const [shown, versions, budget] = await Promise.all([
    unless404(get(figurePath(named, version))),
    unless404(listedNewest(`${figurePath(named)}/versions`, "versions", 100)),
    mayEnter ? unless404(get(`${path("datasets", named.dataset)}/budget`)) : null,
  ]);
  if (shown === null || versions === null) return null;
  const publisher = budget && publisherOf(me, budget);
  const mayChange = publisher && (publisher.rules || versions.items[0].published_by === me.name);
  const [latest] = versions.items;
  const isOld = shown.version !== latest.version;
  return {
    title: shown.title,
    badge: audienceBadge(latest.audience),
    lead: shown.note,
    actions: mayChange && changeActions(latest, publisher, reload),
    content: [
      isOld &&
        notice(
          "warn",
          "This is an earlier version. ",
          h("a", { href: screenAddress(named) }, `The latest one is version ${latest.version}`),
        ),
      h("section", { class: "card", "aria-label": "The figure" }, figureCharts(shown.rows)),
      h(
        "div",
        { class: "split" },
        card("Address, files, embedding", takeAway(latest)),
        factsCard(shown, budget !== null),
      ),
      versionsCard(versions.items, shown.version),
    ],
  };
}
