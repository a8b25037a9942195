// Requests a release with one idempotency key for all attempts until a response arrives, even if the tab is reloaded.

import { call, path } from "./api.js";

const PENDING = "snapledger.pending";
const ATTEMPTS = 5;

function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Over plain HTTP to another machine, browsers have no randomUUID, but getRandomValues is as random.
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the requests without a response so far, each `{dataset, to, body, key}`. */
export const pending = () => JSON.parse(sessionStorage.getItem(PENDING) ?? "[]");

const keep = (requests) => sessionStorage.setItem(PENDING, JSON.stringify(requests));

/** Delete a request and its key, so that it is not repeated. */
export const forget = (request) => keep(pending().filter(({ key }) => key !== request.key));

const sameAs = (dataset, to, body) => (request) =>
  request.dataset === dataset && request.to === to && JSON.stringify(request.body) === JSON.stringify(body);

const pause = (seconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });

/** Request a rehearsal of a release or a derived statistic, which costs nothing; it has a key because a release has. */
export const rehearse = (dataset, to, body) =>
  call("POST", path("datasets", dataset, to), { ...body, rehearse: true }, { "Idempotency-Key": newKey() });

/**
 * Request a release or a derived statistic: `to` is `releases` or `derived`.
 * After a lost response or a 503, it repeats the request with the same key, so nobody pays twice.
 */
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
        if (error.status !== 401) forget(request); // refused, so nothing is stored under the key
        throw error;
      }
      if (attempt === ATTEMPTS) throw error;
      waiting(attempt, error);
      await pause(Math.max(error.retryAfter ?? 1, 0.25 * 2 ** attempt));
    }
  }
}
