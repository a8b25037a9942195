// Calls the API under /v1 with the key of this tab, or with a token of an account.

import { lost, Problem, problemOf } from "./problem.js";
import { bearer, hasAccount } from "./session.js";

const TIMEOUT_MS = 60_000;
const MAX_PAGES = 50;

/** Send a request; return the JSON of the response, or null if it has none. */
export function call(method, path, body, headers = {}) {
  if (body === undefined) return send(method, `/v1${path}`, { headers });
  return send(method, `/v1${path}`, {
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/**
 * Send a form with files. There is no timeout, since the service may take long to check a large file.
 * @param {string} path
 * @param {FormData} form
 * @param {AbortSignal | null} [signal]
 */
export const upload = (path, form, signal = null) => send("POST", `/v1${path}`, { headers: {}, body: form, signal });

/**
 * Send JSON about a table that the service then reads, without a timeout.
 * @param {string} path
 * @param {string} text
 * @param {AbortSignal | null} [signal]
 */
export const callSlowly = (path, text, signal = null) =>
  send("POST", `/v1${path}`, { headers: { "Content-Type": "application/json" }, body: text, signal });

/** Return a file of the service, such as a figure's picture; its address begins with a slash. @returns {Promise<Blob>} */
export const fetchFile = (/** @type {string} */ address) =>
  send("GET", address, { headers: {} }, (response) => response.blob());

async function send(method, address, options, read = (response) => response.json()) {
  try {
    let response = await attempt(method, address, options, await bearer());
    // Nothing was done. The token may have expired on its way, or by the service's clock.
    if (response.status === 401 && hasAccount()) response = await attempt(method, address, options, await bearer(true));
    if (!response.ok) throw await problemOf(response);
    return response.status === 204 ? null : await read(response);
  } catch (error) {
    if (!(error instanceof Problem)) throw lost();
    if (error.status === 401) window.dispatchEvent(new CustomEvent("signed-out", { detail: error.message }));
    throw error;
  }
}

const attempt = (method, address, { headers, ...sent }, credential) =>
  fetch(address, {
    method,
    headers: { ...headers, Authorization: `Bearer ${credential}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    ...sent,
  });

export const get = (path) => call("GET", path);

/** Return a path of encoded names, so that no name can be read as several parts. */
export const path = (...names) => `/${names.map(encodeURIComponent).join("/")}`;

/** Return the items of a list, oldest first; `complete` is false if the list is too long to fetch all. */
export async function listed(from, name, limit = 1000, order = "") {
  const items = [];
  let after = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const start = after === null ? "" : `&after=${encodeURIComponent(after)}`;
    const document = await get(`${from}${from.includes("?") ? "&" : "?"}limit=${limit}${order}${start}`);
    items.push(...document[name]);
    after = document.next;
    if (after === null) return { items, complete: true };
  }
  return { items, complete: false };
}

/** Return the items of a list in the order of time, newest first; of a list that is too long, the newest ones. */
export const listedNewest = (from, name, limit = 1000) => listed(from, name, limit, "&order=newest");
