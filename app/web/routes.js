// The page of each address, and who may open it. A page is loaded when it is first opened.

import { get, listed, path } from "./api.js";
import { publisherOf } from "./figures/publisher.js";
import { NOT_FOUND, noDataset, noFigure, noRelease, notFound } from "./pages/not_found.js";
import { asPage, tabs } from "./ui/shell.js";

/** @typedef {import("./ui/shell.js").Page & { title: string }} Titled */

const FIGURES = [{ href: "#/figures", text: "Figures" }];

const OLD_PARTS = /** @type {Record<string, string>} */ ({ derived: "plan" }); // addresses of earlier versions

const isMore = (/** @type {any} */ { role }) => role !== "viewer"; // viewers see figures, and nothing else
const hasAllowances = (/** @type {any} */ budget) => budget.allowances !== undefined;

/** The pages of a dataset: `may` tells who has them. @type {{ part: string, text: string, load: () => Promise<Function>, may: (me: any, budget: any) => boolean }[]} */
const OF_DATASET = [
  { part: "", text: "Overview", load: async () => (await import("./pages/overview.js")).overview, may: () => true },
  {
    part: "plan",
    text: "Ask a question",
    load: async () => (await import("./pages/planner.js")).planner,
    may: ({ role }) => role !== "auditor",
  },
  {
    part: "releases",
    text: "Releases",
    load: async () => (await import("./pages/releases.js")).releases,
    may: () => true,
  },
  {
    part: "figures",
    text: "Figures",
    load: async () => (await import("./pages/dataset_figures.js")).datasetFigures,
    may: () => true,
  },
  {
    part: "activity",
    text: "Activity",
    load: async () => (await import("./pages/activity.js")).activity,
    may: (_, budget) => hasAllowances(budget),
  },
  {
    part: "ledger",
    text: "Ledger",
    load: async () => (await import("./pages/ledger.js")).ledger,
    may: (_, budget) => hasAllowances(budget),
  },
  {
    part: "rules",
    text: "Allowances and limits",
    load: async () => (await import("./pages/rules.js")).rules,
    may: ({ role }, budget) => hasAllowances(budget) && role !== "auditor",
  },
];

/** The pages of the menu. @type {{ section: string, text: string, load: () => Promise<Function>, may: (me: any) => boolean }[]} */
const MENU = [
  {
    section: "datasets",
    text: "Datasets",
    load: async () => (await import("./pages/datasets.js")).datasets,
    may: isMore,
  },
  {
    section: "figures",
    text: "Figures",
    load: async () => (await import("./pages/figures.js")).figures,
    may: () => true,
  },
  {
    section: "register",
    text: "Register a table",
    load: async () => (await import("./pages/register.js")).register,
    may: ({ role }) => role === "owner" || role === "admin",
  },
  {
    section: "principals",
    text: "Principals",
    load: async () => (await import("./pages/principals.js")).principals,
    may: ({ role }) => role === "admin",
  },
  {
    section: "audit",
    text: "Administrative acts",
    load: async () => (await import("./pages/audit.js")).audit,
    may: ({ role }) => role === "admin" || role === "auditor",
  },
  {
    section: "account",
    text: "Account",
    load: async () => (await import("./pages/account.js")).account,
    may: isMore,
  },
];

/** Return the pages of somebody's menu; the first one is where it begins. */
const pagesOf = (/** @type {any} */ me) => MENU.filter(({ may }) => may(me));

/** Return the section that an address names, or the one where somebody begins. */
const sectionOf = (/** @type {any} */ me, /** @type {string} */ hash) => hash.split("/")[1] || pagesOf(me)[0].section;

/** Return the links of somebody's menu; the current page's is marked. */
export const menuOf = (/** @type {any} */ me, /** @type {string} */ hash) => [
  ...pagesOf(me).map(({ section, text }) => ({
    href: `#/${section}`,
    text,
    current: sectionOf(me, hash) === section,
  })),
  ...(isMore(me) ? [{ href: "/guide/", text: "Guide" }] : []),
];

/** @returns {Titled} */
const missing = (/** @type {any} */ me) => ({ title: NOT_FOUND, content: notFound(isMore(me)) });

/** Return what is awaited, or null if there is no such thing. */
const unless404 = (/** @type {Promise<any>} */ awaited) =>
  awaited.catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });

/**
 * @param {any} me
 * @param {string} name
 * @param {string[]} rest
 * @returns {Promise<Titled>}
 */
async function datasetPage(me, name, [part = "", id, ...more]) {
  const budget = await unless404(get(`${path("datasets", name)}/budget`));
  if (budget === null) {
    const { items } = await listed("/datasets", "datasets", 1000);
    return {
      title: NOT_FOUND,
      crumbs: [{ href: "#/datasets", text: "Datasets" }],
      content: noDataset(
        name,
        items.map((each) => each.name),
      ),
    };
  }
  if (id === undefined && Object.hasOwn(OLD_PARTS, part)) {
    part = OLD_PARTS[part];
    history.replaceState(null, "", `#${path("datasets", name, part)}`);
  }
  const publisher = publisherOf(me, budget);
  const pages = OF_DATASET.filter(({ may }) => may(me, budget));
  const chosen = pages.find((each) => each.part === part);
  const address = (/** @type {string} */ of) => `#${path("datasets", name)}${of && `/${of}`}`;
  const crumbs = [
    { href: "#/datasets", text: "Datasets" },
    ...(part === "" ? [] : [{ href: address(""), text: name }]),
  ];
  const links = tabs(
    "Dataset",
    pages.map((each) => ({ href: address(each.part), text: each.text, current: each === chosen })),
  );
  if (part === "derived" && id && more.length === 0)
    return {
      title: `A derived answer of ${name}`,
      crumbs,
      content: [links, await (await import("./pages/derived.js")).derivedAnswer(name, id, publisher)],
    };
  if (!chosen || more.length > 0 || (id && part !== "releases"))
    return { title: NOT_FOUND, crumbs, content: [links, notFound(true)] };
  if (id) crumbs.push({ href: address("releases"), text: chosen.text });
  const title = id ? `A release of ${name}` : part === "" ? name : chosen.text;
  const page = asPage(
    id
      ? await unless404((await import("./pages/releases.js")).oneRelease(id, publisher))
      : await (await chosen.load())(name, me, budget),
  );
  if (id && page.content === null) return { title: NOT_FOUND, crumbs, content: [links, noRelease(name)] };
  return { title, crumbs, ...page, content: [links, page.content] };
}

/**
 * Return the page of a figure, or of one of its versions.
 * @param {any} me
 * @param {string[]} rest
 * @param {() => void} reload
 * @returns {Promise<Titled>}
 */
async function figurePage(me, [dataset, figure = "", part, number, ...more], reload) {
  const version = part === undefined ? null : Number(number);
  if (figure === "" || more.length > 0 || (version !== null && !(part === "versions" && /^[1-9]\d{0,8}$/.test(number))))
    return missing(me);
  const { figure: show } = await import("./pages/figure.js");
  const page = await show(me, { dataset, figure }, version, reload);
  return { crumbs: FIGURES, ...(page ?? { title: NOT_FOUND, content: noFigure() }) };
}

/**
 * Return the page of an address, such as `#/datasets/penguins/plan`.
 * @param {any} me who is signed in
 * @param {string} hash
 * @param {() => void} reload shows the page anew
 * @returns {Promise<Titled>}
 */
export async function pageOf(me, hash, reload) {
  const section = sectionOf(me, hash);
  let [, ...rest] = hash.slice(2).split("/");
  try {
    rest = rest.map(decodeURIComponent);
    if (section === "datasets" && rest[0] && isMore(me)) return await datasetPage(me, rest[0], rest.slice(1));
    if (section === "figures" && rest[0]) return await figurePage(me, rest, reload);
    if (section === "collections" && rest[0] && rest.length === 1) {
      const { collection } = await import("./pages/collection.js");
      return { crumbs: FIGURES, ...(await collection(me, rest[0], reload)) };
    }
  } catch (error) {
    if (error instanceof URIError || /** @type {any} */ (error).status === 404) return missing(me);
    throw error;
  }
  const chosen = MENU.find((each) => each.section === section);
  if (!chosen || !(isMore(me) || chosen.may(me)) || rest.some((part) => part !== "")) return missing(me);
  return { title: chosen.text, ...asPage(await (await chosen.load())(me, reload)) };
}
