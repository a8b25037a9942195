// Shows when a key expires, and lets the user choose it.

import { badge, field, h } from "./dom.js";
import { time } from "./format.js";

/** Return when a principal's key expires, as text; `key_expires_at` is null if it never does. */
export function expiry({ key_expires_at: at }) {
  if (at === null) return "never";
  return [time(at), new Date(at) <= new Date() && badge("expired", "warn")];
}

/** Return a field for a date and time in the user's time zone; `body()` returns it in UTC, or null if it is empty. */
export function expiryField(left = "it never expires") {
  const input = h("input", { type: "datetime-local" });
  const element = field("Key expires (optional)", input, `In your own time zone. If you leave it empty, ${left}.`);
  return {
    element,
    input,
    body: () => ({ key_expires_at: input.value === "" ? null : new Date(input.value).toISOString() }),
  };
}
