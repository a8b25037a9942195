// A release asked for: one idempotency key from the first attempt until an answer came, across reloads of the tab.

import { call, path } from "./api.js";

const PENDING = "snapledger.pending";
const ATTEMPTS = 5;

function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Over plain HTTP to another machine browsers have no randomUUID, but the same random bits.
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Requests whose answers have not come, each `{dataset, to, body, key}`. */
export const pending = () => JSON.parse(sessionStorage.getItem(PENDING) ?? "[]");

const keep = (requests) => sessionStorage.setItem(PENDING, JSON.stringify(requests));

/** Give up on the answer to a request: its key is no longer known. */
export const forget = (request) => keep(pending().filter(({ key }) => key !== request.key));

const sameAs = (dataset, to, body) => (request) =>
  request.dataset === dataset && request.to === to && JSON.stringify(request.body) === JSON.stringify(body);

const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, seconds * 1000); });

/** Ask for a release, or what follows from some: `to` is `releases` or `derived`. A lost answer or a 503 is asked for again with the same key, so it is never paid twice. */
export async function release(dataset, to, body, waiting) {
  let request = pending().find(sameAs(dataset, to, body));
  if (!request) {
    request = { dataset, to, body, key: newKey() };
    keep([...pending(), request]);
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const headers = { "Idempotency-Key": request.key };
      const answer = await call("POST", path("datasets", dataset, to), body, headers);
      forget(request);
      return answer;
    } catch (error) {
      if (!error.passing) {
        if (error.status !== 401) forget(request); // refused: nothing was stored under the key
        throw error;
      }
      if (attempt === ATTEMPTS) throw error;
      waiting(attempt, error);
      await pause(Math.max(error.retryAfter ?? 1, 0.25 * 2 ** attempt));
    }
  }
}
