// The frame of the dashboard: the signed-in principal, the menu, and the page of each address.

import { get, key, path } from "./api.js";
import { forgetCharts } from "./charts/charts.js";
import { account } from "./pages/account.js";
import { audit } from "./pages/audit.js";
import { datasets } from "./pages/datasets.js";
import { derived } from "./pages/derived.js";
import { ledger } from "./pages/ledger.js";
import { overview } from "./pages/overview.js";
import { planner } from "./pages/planner.js";
import { principals } from "./pages/principals.js";
import { register } from "./pages/register.js";
import { oneRelease, releases } from "./pages/releases.js";
import { rules } from "./pages/rules.js";
import { signIn } from "./pages/sign_in.js";
import { alertOf, announce, fill, h } from "./ui/dom.js";
import { person } from "./ui/format.js";

const main = document.getElementById("main");
const menu = document.getElementById("menu");
let me = null;
let turn = 0;

const OF_DATASET = [
  { part: "", text: "Overview", page: overview, may: () => true },
  { part: "plan", text: "Plan and release", page: planner, may: ({ role }) => role !== "auditor" },
  { part: "derived", text: "Derived", page: derived, may: ({ role }) => role !== "auditor" },
  { part: "releases", text: "Releases", page: releases, may: () => true },
  { part: "ledger", text: "Ledger", page: ledger, may: (_, budget) => budget.allowances !== undefined },
  { part: "rules", text: "Allowances and limits", page: rules,
    may: ({ role }, budget) => budget.allowances !== undefined && role !== "auditor" },
];
const MENU = [
  { hash: "#/datasets", text: "Datasets", may: () => true },
  { hash: "#/register", text: "Register a table", may: ({ role }) => role === "owner" || role === "admin" },
  { hash: "#/principals", text: "Principals", may: ({ role }) => role === "admin" },
  { hash: "#/audit", text: "Administrative acts", may: ({ role }) => role === "admin" || role === "auditor" },
  { hash: "#/account", text: "Account", may: () => true },
];

function signOut(said) {
  key.forget();
  me = null;
  show().then(() => said && announce(said));
}

/** Sign out because the key is no longer valid: it was replaced or has expired, or its principal is disabled. */
function expired() {
  if (me !== null || key.get() !== null) signOut("This key is not valid: it may be mistyped, replaced or expired.");
}

const link = (hash, text, current) => h("a", { href: hash, "aria-current": current ? "page" : null }, text);

function drawMenu(hash) {
  menu.hidden = me === null;
  if (me === null) return fill(menu);
  const links = MENU.filter(({ may }) => may(me)).map((item) => link(item.hash, item.text, hash.startsWith(item.hash)));
  return fill(menu, links, h("button", { type: "button", class: "quiet", click: () => signOut("Signed out.") },
    `Sign out ${person(me.name, me.display_name)}`));
}

async function datasetPage(name, part, rest) {
  const budget = await get(`${path("datasets", name)}/budget`);
  const pages = OF_DATASET.filter(({ may }) => may(me, budget));
  const chosen = pages.find((each) => each.part === part) ?? pages[0];
  const address = (each) => `#${path("datasets", name)}${each && `/${each}`}`;
  const tabs = h("nav", { class: "tabs", "aria-label": "Dataset" },
    pages.map((each) => link(address(each.part), each.text, each === chosen)));
  const content = rest ? await oneRelease(rest) : await chosen.page(name, me, budget);
  const title = rest ? `A release of ${name}` : chosen.part === "" ? name : `${name}: ${chosen.text}`;
  return { title, content: [tabs, content] };
}

async function pageOf(hash) {
  const [section, name, part, rest] = hash.slice(2).split("/").map(decodeURIComponent);
  if (section === "datasets" && name) return datasetPage(name, part ?? "", part === "releases" ? rest : undefined);
  if (section === "register") return { title: "Register a table", content: register() };
  if (section === "principals") return { title: "Principals", content: await principals() };
  if (section === "audit") return { title: "Administrative acts", content: await audit() };
  if (section === "account") return { title: "Account", content: await account(me, show) };
  return { title: "Datasets", content: await datasets() };
}

/** Show the page of the current address, and move the focus to its heading. */
async function show() {
  const mine = ++turn;
  const hash = location.hash || "#/datasets";
  let page;
  try {
    if (key.get() === null) page = { title: "Sign in", content: signIn(show) };
    else {
      me = await get("/me");
      page = await pageOf(hash);
    }
  } catch (error) {
    if (error.status === 401) return expired();
    page = { title: "This page could not be shown", content: [alertOf(error),
      h("button", { type: "button", click: show }, "Try again")] };
  }
  if (mine !== turn) return; // the user has opened another page in the meantime
  forgetCharts(main);
  drawMenu(hash);
  const heading = h("h1", { tabindex: "-1" }, page.title);
  fill(main, heading, page.content);
  document.title = `${page.title} · Snapledger`;
  heading.focus();
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment of the address selects the page, so the link must not change it
  main.focus();
});
window.addEventListener("hashchange", show);
window.addEventListener("signed-out", () => me !== null && expired());
show();
