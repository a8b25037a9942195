// The page of a dataset's figures, and of who may see them.

import { path } from "../api.js";
import { figureList } from "../figures/figure_list.js";
import { publisherOf } from "../figures/publisher.js";
import { reportsCard } from "../figures/reports.js";
import { viewersCard, viewersOfDataset } from "../figures/viewers.js";
import { empty, h } from "../ui/dom.js";

export async function datasetFigures(/** @type {string} */ name, /** @type {any} */ me, /** @type {any} */ budget) {
  const at = path("datasets", name);
  const rules = publisherOf(me, budget)?.rules === true;
  const none = empty(
    "No figures yet",
    "Publish a release or a derived answer under a name, and others read it at no cost.",
    h("a", { href: `#${at}/releases` }, "Releases"),
  );
  const [figures, reports, viewers] = await Promise.all([
    figureList(`${at}/figures`, none),
    reportsCard(name, me),
    budget.allowances === undefined ? null : viewersCard(viewersOfDataset(name), me, rules),
  ]);
  return {
    lead: "Answers that are published under a name. Reading them costs nothing.",
    content: [figures, reports, viewers],
  };
}
