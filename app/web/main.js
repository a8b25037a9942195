// Starts the dashboard: who is signed in, and the page of each address in its frame.

import { get, key } from "./api.js";
import { signIn } from "./pages/sign_in.js";
import { menuOf, pageOf } from "./routes.js";
import { alertOf, announce, fill, h, skeleton } from "./ui/dom.js";
import { byId } from "./ui/element.js";
import { person } from "./ui/format.js";
import { drawMenu, pageHeading, revealTab } from "./ui/shell.js";

const SLOW_MS = 250; // a page that takes longer shows its shape until then

const main = byId("main");
/** @type {any} */
let me = null;
let turn = 0;

function signOut(/** @type {string} */ said) {
  key.forget();
  me = null;
  show().then(() => said && announce(said));
}

/** Sign out because the key is no longer valid: it was replaced or has expired, or its principal is disabled. */
function expired() {
  if (me !== null || key.get() !== null) signOut("This key is not valid: it may be mistyped, replaced or expired.");
}

/** @returns {Promise<import("./routes.js").Titled | null>} */
async function load(/** @type {string} */ hash) {
  try {
    if (key.get() === null) return { title: "Sign in", content: signIn(show) };
    me = await get("/me");
    return await pageOf(me, hash, show);
  } catch (error) {
    if (/** @type {any} */ (error).status === 401) return null;
    return {
      title: "This page could not be shown",
      content: [alertOf(error), h("button", { type: "button", click: show }, "Try again")],
    };
  }
}

/** Show the page of the current address, and move the focus to its heading. */
async function show() {
  const mine = ++turn;
  const hash = location.hash || "#/datasets";
  const waiting = setTimeout(() => mine === turn && fill(main, skeleton()), SLOW_MS);
  const page = await load(hash);
  clearTimeout(waiting);
  if (page === null) return expired();
  if (mine !== turn) return; // the user has opened another page in the meantime
  drawMenu(
    me && {
      links: menuOf(me, hash),
      who: `${person(me.name, me.display_name)} · ${me.role}`,
      signOut: () => signOut("Signed out."),
    },
  );
  fill(main, pageHeading(page.title, page), page.content);
  document.title = [
    page.title,
    ...(page.crumbs ?? [])
      .slice(1)
      .map(({ text }) => text)
      .reverse(),
    "Snapledger",
  ].join(" · ");
  const heading = /** @type {HTMLElement} */ (main.querySelector("h1"));
  revealTab(main);
  scrollTo(0, 0);
  heading.focus({ preventScroll: true });
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment of the address selects the page, so the link must not change it
  main.focus();
});
window.addEventListener("hashchange", show);
window.addEventListener("signed-out", () => me !== null && expired());
show();
