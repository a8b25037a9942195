// The address of a derived answer: it has the question, which earlier releases answer at no cost.

import { path } from "./api.js";

/** Return the address of the answer to a request for a derived statistic. */
export function derivedAddress(
  /** @type {string} */ dataset,
  /** @type {Record<string, any>} */ { reuse: _, ...asked },
) {
  return `#${path("datasets", dataset, "derived", JSON.stringify(asked))}`;
}

/** Return the request of an address, or null if it has none. */
export function requestOf(/** @type {string} */ text) {
  try {
    const asked = JSON.parse(text);
    return asked?.derived ? { ...asked, reuse: true } : null;
  } catch {
    return null;
  }
}
