// The page of each address, and who may open it.

import { get, path } from "./api.js";
import { account } from "./pages/account.js";
import { audit } from "./pages/audit.js";
import { datasets } from "./pages/datasets.js";
import { derived } from "./pages/derived.js";
import { ledger } from "./pages/ledger.js";
import { NOT_FOUND, notFound } from "./pages/not_found.js";
import { overview } from "./pages/overview.js";
import { planner } from "./pages/planner.js";
import { principals } from "./pages/principals.js";
import { register } from "./pages/register.js";
import { oneRelease, releases } from "./pages/releases.js";
import { rules } from "./pages/rules.js";
import { asPage, tabs } from "./ui/shell.js";

/** @typedef {import("./ui/shell.js").Page & { title: string }} Titled */

const hasAllowances = (/** @type {any} */ budget) => budget.allowances !== undefined;

/** The pages of a dataset: `may` tells who has them. @type {{ part: string, text: string, page: Function, may: (me: any, budget: any) => boolean }[]} */
const OF_DATASET = [
  { part: "", text: "Overview", page: overview, may: () => true },
  { part: "plan", text: "Plan and release", page: planner, may: ({ role }) => role !== "auditor" },
  { part: "derived", text: "Derived", page: derived, may: ({ role }) => role !== "auditor" },
  { part: "releases", text: "Releases", page: releases, may: () => true },
  { part: "ledger", text: "Ledger", page: ledger, may: (_, budget) => hasAllowances(budget) },
  { part: "rules", text: "Allowances and limits", page: rules, may: ({ role }, budget) => hasAllowances(budget) && role !== "auditor" },
];

/** The pages of the menu. @type {{ section: string, text: string, page: Function, may: (me: any) => boolean }[]} */
const MENU = [
  { section: "datasets", text: "Datasets", page: datasets, may: () => true },
  { section: "register", text: "Register a table", page: register, may: ({ role }) => role === "owner" || role === "admin" },
  { section: "principals", text: "Principals", page: principals, may: ({ role }) => role === "admin" },
  { section: "audit", text: "Administrative acts", page: audit, may: ({ role }) => role === "admin" || role === "auditor" },
  { section: "account", text: "Account", page: account, may: () => true },
];

/** Return the links of somebody's menu; the current page's is marked. */
export const menuOf = (/** @type {any} */ me, /** @type {string} */ hash) => [
  ...MENU.filter(({ may }) => may(me)).map(({ section, text }) => ({ href: `#/${section}`, text, current: hash.split("/")[1] === section })),
  { href: "/guide/", text: "Guide" },
];

/** @returns {Titled} */
const missing = () => ({ title: NOT_FOUND, content: notFound() });

/**
 * @param {any} me
 * @param {string} name
 * @param {string[]} rest
 * @returns {Promise<Titled>}
 */
async function datasetPage(me, name, [part = "", id, ...more]) {
  const budget = await get(`${path("datasets", name)}/budget`);
  const pages = OF_DATASET.filter(({ may }) => may(me, budget));
  const chosen = pages.find((each) => each.part === part);
  const address = (/** @type {string} */ of) => `#${path("datasets", name)}${of && `/${of}`}`;
  const crumbs = [{ href: "#/datasets", text: "Datasets" }, ...(part === "" ? [] : [{ href: address(""), text: name }])];
  const links = tabs("Dataset", pages.map((each) => ({ href: address(each.part), text: each.text, current: each === chosen })));
  if (!chosen || more.length > 0 || (id && part !== "releases")) return { title: NOT_FOUND, crumbs, content: [links, notFound()] };
  if (id) crumbs.push({ href: address("releases"), text: chosen.text });
  const title = id ? `A release of ${name}` : part === "" ? name : chosen.text;
  const page = asPage(id ? await oneRelease(id) : await chosen.page(name, me, budget));
  return { title, crumbs, ...page, content: [links, page.content] };
}

/**
 * Return the page of an address, such as `#/datasets/penguins/plan`.
 * @param {any} me who is signed in
 * @param {string} hash
 * @param {() => void} reload shows the page anew
 * @returns {Promise<Titled>}
 */
export async function pageOf(me, hash, reload) {
  let [section, ...rest] = hash.slice(2).split("/");
  try {
    rest = rest.map(decodeURIComponent);
    if (section === "datasets" && rest[0]) return await datasetPage(me, rest[0], rest.slice(1));
  } catch (error) {
    if (error instanceof URIError || /** @type {any} */ (error).status === 404) return missing();
    throw error;
  }
  const chosen = MENU.find((each) => each.section === section);
  if (!chosen || rest.some((part) => part !== "")) return missing();
  return { title: chosen.text, ...asPage(await chosen.page(me, reload)) };
}
