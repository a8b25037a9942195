// When a key expires: shown, and chosen.

import { field, h } from "./dom.js";
import { time } from "./format.js";

/** The end of a key as it is read; a principal's `key_expires_at` is null where it has none. */
export function expiry({ key_expires_at: at }) {
  if (at === null) return "never";
  return [time(at), new Date(at) <= new Date() && h("span", { class: "badge" }, "expired")];
}

/** A day and time in the reader's zone; `body()` has it in UTC, or null where it was left empty. */
export function expiryField(left = "it never expires") {
  const input = h("input", { type: "datetime-local" });
  const element = field("Key expires (optional)", input, `In your own time zone. If you leave it empty, ${left}.`);
  return {
    element,
    body: () => ({ key_expires_at: input.value === "" ? null : new Date(input.value).toISOString() }),
    clear: () => { input.value = ""; },
  };
}
