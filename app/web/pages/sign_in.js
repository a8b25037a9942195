// The page to sign in, with an organisation's account if the service has a provider, or with a key. Only this tab
// stores the key, until it is closed.

import { whoAmI } from "../identity.js";
import { forget, key, leave, provider } from "../session.js";
import { field, form, h } from "../ui/dom.js";

/** What each outcome of a sign-on means. @type {Record<string, string>} */
export const OUTCOMES = {
  done: "Your browser did not keep the session: allow cookies for this site, then sign in again.",
  ended: "Your session has ended: sign in again.",
  interrupted: "The sign-in was interrupted, took too long, or was started in another tab: sign in again.",
  denied: "The sign-in was refused or cancelled at your organisation's page.",
  away: "Your organisation's sign-in page cannot be reached now: try again in a minute, or sign in with a key.",
  failed: "The sign-in failed: the provider's answer is not valid here. The operator finds the reason in the log.",
  "no-access": "Your account gives no access here: ask the operator for a role, or use another account.",
};

const keyForm = (/** @type {() => Promise<void>} */ done) => {
  const input = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const enter = async () => {
    key.set(input.value.trim());
    try {
      await whoAmI();
    } catch (error) {
      forget();
      if (/** @type {any} */ (error).status === 401)
        throw new Error("This key is not valid: it may be mistyped, replaced or expired.");
      throw error;
    }
    await done();
  };
  return form(
    { class: "card narrow" },
    enter,
    field("Key", input, "Only this tab keeps it, until you close it."),
    h("button", { type: "submit" }, "Sign in"),
  );
};

const accountCard = (/** @type {string} */ address, /** @type {string} */ issuer) =>
  h(
    "section",
    { class: "card narrow", "aria-label": "Account" },
    h("p", {}, "Your organisation's account, at ", h("strong", {}, new URL(issuer).host), "."),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", click: () => leave(address) }, "Sign in with your account"),
      h(
        "button",
        { type: "button", class: "quiet", click: () => leave(`${address}?account=another`) },
        "Use another account",
      ),
    ),
  );

/**
 * @param {() => Promise<void>} done
 * @param {string} said what happened before, if anything
 */
export async function signIn(done, said) {
  const found = await provider();
  return [
    said !== "" && h("div", { role: "alert", class: "notice warn" }, said),
    found?.dashboard_url && accountCard(found.dashboard_url, found.issuer),
    keyForm(done),
  ];
}
