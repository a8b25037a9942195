// Sign in with a key, which this tab alone keeps, until it is closed.

import { get, key } from "../api.js";
import { field, form, h } from "../dom.js";

export function signIn(done) {
  const input = h("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const enter = async () => {
    key.set(input.value.trim());
    try {
      await get("/me");
    } catch (error) {
      key.forget();
      if (error.status === 401) throw new Error("This key is not in force.");
      throw error;
    }
    await done();
  };
  return form({ class: "card narrow" }, enter,
    field("Key", input, "Kept by this tab alone, and forgotten when it is closed."),
    h("button", { type: "submit" }, "Sign in"));
}
