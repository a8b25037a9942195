// Who is signed in: with a key of this tab, or with an organisation's account. Then this page holds an access token in
// memory, and the service renews it: the refresh token is in a cookie that no script can read.

import { lost, Problem, problemOf } from "./problem.js";

const KEY = "snapledger.key";
const PLACE = "snapledger.place";
const WHOSE = "snapledger.whose";
const ARRIVED = "#sign-on=";
const TIMEOUT_MS = 30_000;
const EARLY_MS = 60_000; // a token is renewed so long before it expires, or after three quarters of its time
const EARLY_PART = 0.25;

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (/** @type {string} */ value) => sessionStorage.setItem(KEY, value),
};

/** @type {{ text: string, expires: number, renewFrom: number } | null} */
let token = null;
let isAccount = false;
/** @type {Promise<string | null> | null} */
let renewing = null;
/** @type {Promise<any> | null} */
let asked = null;
let isForgotten = false; // after signing out, until the page is loaded again
const otherTabs = new BroadcastChannel("snapledger.sign-on");
otherTabs.addEventListener("message", () => {
  if (!isAccount) return;
  sessionStorage.clear();
  window.dispatchEvent(new Event("signed-out"));
});

/** @returns {Promise<Response>} */
const ask = (/** @type {string} */ method, /** @type {string} */ path) =>
  fetch(path, {
    method,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    cache: "no-store",
    credentials: "same-origin",
    redirect: "error",
    keepalive: true, // a page that is left meanwhile still gets its cookie: a refresh token can be used once
  }).catch(() => {
    throw lost();
  });

/** Return the provider that people sign on with, or null. */
export function provider() {
  asked ??= ask("GET", "/v1/sign-on")
    .then(async (response) => {
      if (!response.ok) throw await problemOf(response);
      return (await response.json()).provider;
    })
    .catch((error) => {
      asked = null;
      throw error;
    });
  return asked;
}

async function fetchToken() {
  const response = await ask("POST", "/sign-on/token");
  token = response.status >= 500 ? token : null;
  if (response.status === 204) return null;
  if (!response.ok) throw await problemOf(response);
  const { access_token: text, expires_in: seconds } = await response.json();
  const lasts = seconds === null ? Number.POSITIVE_INFINITY : seconds * 1000;
  const expires = Date.now() + lasts;
  token = { text, expires, renewFrom: expires - Math.min(EARLY_MS, lasts * EARLY_PART) };
  isAccount = true;
  return text;
}

/** Return a new token, or null if nobody is signed on. One page asks at a time, and one tab. */
function renew() {
  const once = () => (navigator.locks ? navigator.locks.request("snapledger.sign-on", fetchToken) : fetchToken());
  renewing ??= once().finally(() => {
    renewing = null;
  });
  return renewing;
}

/** Whether somebody is signed on with an account, in this page. */
export const hasAccount = () => isAccount;

/**
 * Return what a request is sent with: the key, or an access token; an empty text if nobody is signed in.
 * @param {boolean} [isRefused] whether the service has refused the current token
 */
export async function bearer(isRefused = false) {
  const own = key.get();
  if (own !== null) return own;
  if (token === null) return isAccount ? ((await renew()) ?? "") : "";
  const now = Date.now();
  if (!isRefused && now < token.renewFrom) return token.text;
  const current = token;
  try {
    return (await renew()) ?? "";
  } catch (error) {
    const isPassing = error instanceof Problem && error.passing;
    if (isPassing && !isRefused && now < current.expires) return current.text; // the provider may be back by then
    throw error;
  }
}

/** Whether somebody is signed in; a session with an account goes on when the page is loaded again. */
export async function isSignedIn() {
  if (key.get() !== null || token !== null) return true;
  if (isForgotten) return false;
  const found = await provider();
  if (found === null || found.dashboard_url === null || new URL(found.dashboard_url).origin !== location.origin)
    return false;
  try {
    return (await renew()) !== null;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return false;
    throw error;
  }
}

/**
 * Forget everything that this tab holds; but keep the basket and the releases without an answer for somebody whose
 * session has ended by itself.
 * @param {string | null} [name]
 */
export function forget(name = null) {
  if (name === null) sessionStorage.clear();
  else sessionStorage.setItem(WHOSE, name);
  token = null;
  isAccount = false;
  isForgotten = true;
}

/** Forget what was kept for somebody, unless it is this one who has signed in. */
export function claim(/** @type {string} */ name) {
  const whose = sessionStorage.getItem(WHOSE);
  if (whose !== null && whose !== name) {
    const own = key.get();
    sessionStorage.clear();
    if (own !== null) key.set(own);
  }
  sessionStorage.removeItem(WHOSE);
}

/** End a session with an account, in all tabs and at the provider, whose own page may follow. */
export async function endSession() {
  const response = await ask("POST", "/sign-on/end");
  if (!response.ok) throw await problemOf(response);
  const { url } = await response.json();
  otherTabs.postMessage("signed-out");
  forget();
  if (url !== null) location.assign(url);
}

/** Go to the provider's page. The way back leads to this place. */
export function leave(/** @type {string} */ address) {
  sessionStorage.setItem(PLACE, location.hash);
  location.assign(address);
}

/** Return how a sign-on went, if the page was loaded by one, and show the place that it began at. */
export function arrive() {
  if (!location.hash.startsWith(ARRIVED)) return null;
  const outcome = location.hash.slice(ARRIVED.length);
  const place = sessionStorage.getItem(PLACE) ?? "";
  sessionStorage.removeItem(PLACE);
  history.replaceState(null, "", `${location.pathname}${place}`);
  return outcome;
}
