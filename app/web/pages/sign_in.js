// The page to sign in with a key. Only this tab stores the key, until it is closed.

import { get, key } from "../api.js";
import { field, form, h } from "../ui/dom.js";

export function signIn(done) {
  const input = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const enter = async () => {
    key.set(input.value.trim());
    try {
      await get("/me");
    } catch (error) {
      key.forget();
      if (error.status === 401) throw new Error("This key is not valid: it may be mistyped, replaced or expired.");
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
}
