// The form that creates a principal with its key; for admins.

import { call } from "../api.js";
import { field, h, help, select } from "../ui/dom.js";
import { expiryField } from "../ui/key_expiry.js";
import { checkText } from "./amounts.js";
import { confirmThenSend } from "./confirm_then_send.js";

/** @type {[string, string][]} */
const ROLES = [
  ["analyst", "analyst: plans and releases"],
  ["owner", "owner: registers datasets and grants allowances"],
  ["viewer", "viewer: sees the figures that it may see, and nothing else"],
  ["auditor", "auditor: reads everything, changes nothing"],
  ["admin", "admin: everything"],
];

export const SHOWN_HINT = "Such as Ada Lovelace. It is shown beside the name.";

/** Return a field's control for how people call a principal. */
export const shownName = (/** @type {string} */ value) =>
  h("input", { type: "text", maxlength: 255, autocomplete: "off", value });

/** Ask who it is, and create a principal; return it with its key, or undefined if the user went back. A given role stays. */
export async function createPrincipal(/** @type {string | null} */ given = null) {
  const name = h("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const shown = shownName("");
  const role = select(ROLES, given ?? "analyst");
  const until = expiryField();
  const roleField = field("Role", role);
  roleField.querySelector("label")?.after(" ", help("role"));
  return confirmThenSend(
    {
      question: given === null ? "New principal" : `New ${given}`,
      action: "Create",
      content: [
        field("Name", name, "Lowercase letters, digits, - and _. It never changes."),
        field("Display name (optional)", shown, SHOWN_HINT),
        given === null && roleField,
        until.element,
      ],
      fields: { name, display_name: shown, role, key_expires_at: until.input },
      check: () => checkText(name, "Write a name."),
    },
    () =>
      call("POST", "/principals", {
        name: name.value.trim(),
        display_name: shown.value.trim() || null,
        role: role.value,
        ...until.body(),
      }),
  );
}
