// The page where a dataset's owner sets allowances and the dataset's limit.

import { call, path } from "../api.js";
import { gauge, windowNote } from "../ui/budget_gauge.js";
import { announce, confirmed, field, fill, form, h } from "../ui/dom.js";
import { person } from "../ui/format.js";
import { help } from "../ui/term.js";

const text = (properties) => h("input", { type: "text", autocomplete: "off", ...properties });

function allowanceForm(at, changed) {
  const principal = text({ required: true, autocapitalize: "off", spellcheck: "false" });
  const limit = text({ required: true, inputmode: "decimal" });
  const days = text({ inputmode: "numeric" });
  const submit = async () => {
    const window_days = days.value.trim() === "" ? null : days.value.trim();
    const who = principal.value.trim();
    changed(await call("PUT", `${at}/allowances/${encodeURIComponent(who)}`,
      { epsilon_limit: limit.value.trim(), window_days }));
    announce(`${who} may spend ε ${limit.value.trim()}.`);
  };
  const element = form({ class: "card" }, submit, h("h2", {}, "Grant or change an allowance"),
    field("Principal", principal), field("Limit (ε)", limit, "With 0, the principal can only reuse releases."),
    field("Days (optional)", days, "The limit is renewed every so many days."),
    h("button", { type: "submit" }, "Save the allowance"));
  const edit = (allowance) => {
    principal.value = allowance.principal;
    limit.value = allowance.epsilon_limit;
    days.value = allowance.window ? String(allowance.window.days) : "";
    limit.focus();
  };
  return { element, edit };
}

function limitForm(at, budget, changed) {
  const limit = text({ required: true, inputmode: "decimal", value: budget.epsilon_limit });
  const reason = text({ required: true, maxlength: 1000 });
  const submit = async () => {
    changed(await call("POST", `${at}/budget/adjustments`,
      { epsilon_limit: limit.value.trim(), reason: reason.value.trim() }));
    announce(`The dataset's limit is ε ${limit.value.trim()}.`);
    reason.value = "";
  };
  return form({ class: "card" }, submit, h("h2", {}, "Change the dataset's limit"),
    field("New limit (ε)", limit), field("Reason", reason, "The reason is stored in the ledger."),
    h("button", { type: "submit" }, "Change the limit"));
}

export async function rules(name, _, budget) {
  const at = path("datasets", name);
  const shown = h("section", { class: "card", "aria-label": "Budget and allowances" });
  const trouble = h("div");
  const allowance = allowanceForm(at, show);

  async function revoke({ principal }) {
    if (!await confirmed(`Revoke ${principal}'s access? What it has spent stays spent.`, "Revoke")) return;
    try {
      await call("DELETE", `${at}/allowances/${encodeURIComponent(principal)}`);
      show(await call("GET", `${at}/budget`));
      announce(`${principal} no longer has access.`);
    } catch (error) {
      fill(trouble, h("p", { role: "alert", class: "alert" }, error.message));
    }
  }
  const one = (given) => h("li", {},
    gauge(person(given.principal, given.display_name), given, given.revoked ? "Revoked: no access." : windowNote(given.window)),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "quiet", click: () => allowance.edit(given),
        "aria-label": `${given.revoked ? "Renew" : "Change"} the allowance of ${given.principal}` }, given.revoked ? "Renew" : "Change"),
      !given.revoked && h("button", { type: "button", class: "quiet", "aria-label": `Revoke the allowance of ${given.principal}`,
        click: () => revoke(given) }, "Revoke")));

  function show(found) {
    fill(trouble);
    fill(shown, h("h2", {}, "Budget ", help("budget")), gauge("Dataset", found), h("h2", {}, "Allowances ", help("allowance")),
      found.allowances.length === 0 ? h("p", {}, "Nobody has an allowance yet.")
        : h("ul", { class: "plain" }, found.allowances.map(one)), trouble);
  }
  show(budget);
  return [shown, h("div", { class: "columns" }, allowance.element, limitForm(at, budget, show))];
}
