// The page where admins manage principals, their roles and their keys.

import { call, listed, path } from "../api.js";
import { alertOf, announce, confirmed, field, fill, form, h, select, table } from "../ui/dom.js";
import { time } from "../ui/format.js";
import { expiry, expiryField } from "../ui/key_expiry.js";
import { newKey } from "../ui/new_key.js";

const ROLES = [["analyst", "analyst: plans and releases"], ["owner", "owner: registers datasets and grants allowances"],
  ["auditor", "auditor: reads everything, changes nothing"], ["admin", "admin: everything"]];

const SHOWN_HINT = "Such as Ada Lovelace. It is shown beside the name.";
const shownName = (value) => h("input", { type: "text", maxlength: 255, autocomplete: "off", value });

export async function principals() {
  const list = h("div");
  const told = h("div");

  const attempt = (act) => async () => {
    try {
      await act();
    } catch (error) {
      fill(told, alertOf(error));
    }
  };
  const renew = ({ name }) => attempt(async () => {
    const until = expiryField();
    const question = `Create a new key for ${name}? The old one stops working at once.`;
    if (!await confirmed(question, "Create a new key", until.element)) return;
    fill(told, newKey(await call("POST", `${path("principals", name)}/keys`, until.body())));
    await show();
  });
  const rename = ({ name, display_name: before }) => attempt(async () => {
    const shown = shownName(before ?? "");
    if (!await confirmed(`How do people call ${name}?`, "Save", field("Display name", shown, SHOWN_HINT))) return;
    await call("PUT", `${path("principals", name)}/display-name`, { display_name: shown.value.trim() || null });
    announce(`The display name of ${name} is changed.`);
    await show();
  });
  const disable = ({ name }) => attempt(async () => {
    if (!await confirmed(`Disable ${name}? Its key stops working at once.`, "Disable")) return;
    await call("DELETE", path("principals", name));
    fill(told);
    announce(`${name} is disabled.`);
    await show();
  });
  const actions = (one) => (one.disabled ? "disabled" : h("div", { class: "buttons" },
    h("button", { type: "button", class: "quiet", "aria-label": `Display name of ${one.name}`, click: rename(one) }, "Display name"),
    h("button", { type: "button", class: "quiet", "aria-label": `New key for ${one.name}`, click: renew(one) }, "New key"),
    h("button", { type: "button", class: "quiet", "aria-label": `Disable ${one.name}`, click: disable(one) }, "Disable")));
  async function show() {
    const { items } = await listed("/principals", "principals");
    fill(list, table("Principals", ["Name", "Display name", "Role", "Since", "Key expires", "Actions"],
      items.map((one) => [one.name, one.display_name ?? "", one.role, time(one.created_at), one.disabled ? "" : expiry(one), actions(one)])));
  }

  const name = h("input", { type: "text", required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const shown = shownName("");
  const role = select(ROLES, "analyst");
  const until = expiryField();
  const create = async () => {
    const asked = { name: name.value.trim(), display_name: shown.value.trim() || null, role: role.value, ...until.body() };
    fill(told, newKey(await call("POST", "/principals", asked)));
    name.value = shown.value = "";
    until.clear();
    announce("The principal is created; its key is shown.");
    await show();
  };
  await show();
  return [
    form({ class: "card" }, create, h("h2", {}, "New principal"),
      field("Name", name, "Lowercase letters, digits, - and _. It never changes."),
      field("Display name (optional)", shown, SHOWN_HINT), field("Role", role), until.element,
      h("button", { type: "submit" }, "Create")),
    told, list,
  ];
}
