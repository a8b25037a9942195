// What the service answers when it refuses, and what stands for an answer that did not come.

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

/** Return the problem of a request without a response. */
export const lost = () => new Problem(0, LOST, 1);

/** Return the problem that a response describes. */
export async function problemOf(/** @type {Response} */ response) {
  const seconds = Number(response.headers.get("Retry-After") ?? 1);
  return new Problem(response.status, await response.json().catch(() => ({})), Number.isFinite(seconds) ? seconds : 1);
}
