// Calls the API under /v1 with the key of this tab.

const KEY = "snapledger.key";
const TIMEOUT_MS = 60_000;
const MAX_PAGES = 50;

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.clear(),
};

/** A problem (RFC 9457) as an exception, with the problem's members. Status 0 means that there was no response. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {Record<string, any>} document
   * @param {number} retryAfter
   */
  constructor(status, document, retryAfter) {
    super(document.detail ?? `The service answered with status ${status}.`);
    Object.assign(this, document);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get passing() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

const LOST = {
  title: "No answer",
  detail: "The service did not answer, or its answer was lost. Check the connection and try again.",
};

async function problemOf(response) {
  const seconds = Number(response.headers.get("Retry-After") ?? 1);
  return new Problem(response.status, await response.json().catch(() => ({})), Number.isFinite(seconds) ? seconds : 1);
}

/** Send a request; return the JSON of the response, or null if it has none. */
export function call(method, path, body, headers = {}) {
  if (body === undefined) return send(method, path, { headers });
  return send(method, path, {
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
export const upload = (path, form, signal = null) => send("POST", path, { headers: {}, body: form, signal });

/**
 * Send JSON about a table that the service then reads, without a timeout.
 * @param {string} path
 * @param {string} text
 * @param {AbortSignal | null} [signal]
 */
export const callSlowly = (path, text, signal = null) =>
  send("POST", path, { headers: { "Content-Type": "application/json" }, body: text, signal });

async function send(method, path, { headers, ...sent }) {
  let response;
  try {
    response = await fetch(`/v1${path}`, {
      method,
      headers: { ...headers, Authorization: `Bearer ${key.get()}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      ...sent,
    });
    if (response.ok) return response.status === 204 ? null : await response.json();
  } catch {
    throw new Problem(0, LOST, 1);
  }
  const problem = await problemOf(response);
  if (problem.status === 401) window.dispatchEvent(new Event("signed-out"));
  throw problem;
}

export const get = (path) => call("GET", path);

/** Return a path of encoded names, so that no name can be read as several parts. */
export const path = (...names) => `/${names.map(encodeURIComponent).join("/")}`;

/** Return the items of a list, oldest first; `complete` is false if the list is too long to fetch all. */
export async function listed(from, name, limit = 1000) {
  const items = [];
  let after = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const document = await get(`${from}?limit=${limit}${after === null ? "" : `&after=${encodeURIComponent(after)}`}`);
    items.push(...document[name]);
    after = document.next;
    if (after === null) return { items, complete: true };
  }
  return { items, complete: false };
}
