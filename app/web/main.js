// Starts the dashboard: who is signed in, and the page of each address in its frame.

import { whoAmI } from "./identity.js";
import { OUTCOMES, signIn } from "./pages/sign_in.js";
import { menuOf, pageOf } from "./routes.js";
import { arrive, claim, endSession, forget, hasAccount, isSignedIn, key } from "./session.js";
import { alertOf, announce, fill, h, skeleton } from "./ui/dom.js";
import { byId } from "./ui/element.js";
import { person } from "./ui/format.js";
import { drawMenu, pageHeading, revealTab } from "./ui/shell.js";
import { toast } from "./ui/toast.js";

const SLOW_MS = 250; // a page that takes longer shows its shape until then

const main = byId("main");
/** @type {any} */
let me = null;
let turn = 0;
let notice = ""; // what the next sign-in page says

function leave(/** @type {string} */ said, /** @type {string | null} */ keptFor = null) {
  forget(keptFor);
  me = null;
  show().then(() => said && announce(said));
}

async function signOut() {
  try {
    if (hasAccount()) await endSession();
  } catch (error) {
    return toast(/** @type {any} */ (error).message);
  }
  leave("Signed out.");
}

/** Sign out because the key or the session is no longer valid; `detail` is what the service says about a token. */
function expired(detail = "") {
  notice = hasAccount() ? OUTCOMES.ended : "This key is not valid: it may be mistyped, replaced or expired.";
  if (hasAccount() && detail.startsWith("The token is valid")) notice = detail;
  leave(notice, hasAccount() ? (me?.name ?? null) : null);
}

/** @returns {Promise<import("./routes.js").Titled | null>} */
async function load(/** @type {string} */ hash) {
  try {
    if (!(await isSignedIn())) return { title: "Sign in", content: await signInPage() };
    me = await whoAmI();
    claim(me.name);
    notice = "";
    return await pageOf(me, hash, show);
  } catch (error) {
    if (/** @type {any} */ (error).status === 401) {
      if (hasAccount() || key.get() !== null) expired(/** @type {any} */ (error).message);
      return null; // or whoever noticed it first has done so
    }
    return {
      title: "This page could not be shown",
      content: [
        alertOf(error),
        h(
          "div",
          { class: "buttons" },
          h("button", { type: "button", click: show }, "Try again"),
          me === null && hasAccount() && h("button", { type: "button", class: "quiet", click: signOut }, "Sign out"),
        ),
      ],
    };
  }
}

/** @returns {Promise<any>} */
async function signInPage() {
  const said = notice;
  notice = "";
  return signIn(show, said);
}

/** Show the page of the current address, and move the focus to its heading. */
async function show() {
  const mine = ++turn;
  const { hash } = location;
  const waiting = setTimeout(() => mine === turn && fill(main, skeleton()), SLOW_MS);
  const page = await load(hash);
  clearTimeout(waiting);
  if (page === null || mine !== turn) return; // the user has opened another page in the meantime
  drawMenu(
    me && {
      links: menuOf(me, hash),
      who: `${person(me.name, me.display_name)} · ${me.role}`,
      signOut,
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
window.addEventListener("signed-out", (event) => me !== null && expired(/** @type {any} */ (event).detail ?? ""));
notice = OUTCOMES[arrive() ?? ""] ?? "";
show();
