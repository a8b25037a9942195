// Granting, changing and revoking an allowance: each says what it does before it is done.

import { call, get, listed, path } from "../api.js";
import { combobox, field, fill, h, setError, toast } from "../ui/dom.js";
import { costText, leftText, person } from "../ui/format.js";
import { checkEpsilon, checkText, epsilonField } from "./amounts.js";
import { confirmThenSend } from "./confirm_then_send.js";

const at = (/** @type {string} */ dataset, /** @type {string} */ principal) =>
  path("datasets", dataset, "allowances", principal);

/** Return the principals that may get an allowance, as options of a combobox. */
async function grantees(/** @type {string} */ dataset) {
  const { items } = await listed(`${path("datasets", dataset)}/grantees`, "grantees");
  return items.map(({ name, display_name: called, role }) => ({ value: name, text: person(name, called), note: role }));
}

/** Return a choice of a principal from a list; its name is what is sent. */
async function chooser(/** @type {string} */ dataset, /** @type {() => void} */ change) {
  const options = await grantees(dataset);
  const made = combobox("Principal", options, { change, hint: "Type a part of the name or of what people call it." });
  const isKnown = () => {
    const known = options.some(({ value }) => value === made.value);
    if (!known) setError(made.input, `There is no principal “${made.value}” that may get an allowance.`);
    return known;
  };
  const check = () => checkText(made.input, "Choose who may spend.") && isKnown();
  return {
    element: made.element,
    get value() {
      return made.value;
    },
    input: made.input,
    check,
  };
}

function daysField(/** @type {any} */ window, /** @type {() => void} */ change) {
  const input = h("input", {
    type: "text",
    inputmode: "numeric",
    autocomplete: "off",
    value: window ? String(window.days) : "",
    input: change,
  });
  return {
    input,
    element: field(
      "Renewed every so many days (optional)",
      input,
      "Empty: the limit holds for as long as the dataset lasts.",
    ),
  };
}

function effect(
  /** @type {string} */ who,
  /** @type {string} */ limit,
  /** @type {string} */ days,
  /** @type {any} */ budget,
) {
  const amount = limit === "" ? "ε …" : `ε ${limit}`;
  const what =
    limit === "0"
      ? "may only ask for earlier releases again"
      : `may spend ${amount}${days === "" ? " in all" : ` in every ${days} days`}`;
  return (
    `${who || "The principal"} sees the dataset and all its releases, and ${what}. ` +
    `ε ${leftText(budget.epsilon_remaining)} of the dataset's budget is left, for everybody together.`
  );
}

/**
 * Ask for the limit of an allowance, and grant it; return the dataset's new budget, or undefined if the user went back.
 * Without a `principal` it is chosen from a list; `current` is the allowance that is changed.
 * @param {{ dataset: string, principal?: string, current?: any, question?: string }} parts
 */
export async function grantAllowance({ dataset, principal, current, question }) {
  const budget = await get(`${path("datasets", dataset)}/budget`);
  const told = h("p", { class: "muted" });
  const show = () => fill(told, effect(who(), limit.input.value.trim(), days.input.value.trim(), budget));
  const chosen = principal === undefined ? await chooser(dataset, show) : null;
  const who = () => principal ?? chosen?.value ?? "";
  const limit = epsilonField(
    "May spend (ε)",
    current?.epsilon_limit ?? "",
    current
      ? `ε ${costText(current.epsilon_spent)} is spent: the limit cannot be below that.`
      : "With 0, it can only ask for earlier releases again.",
  );
  const days = daysField(current?.window, show);
  limit.input.addEventListener("input", show);
  show();
  const granted = await confirmThenSend(
    {
      question: question ?? (principal === undefined ? "Grant an allowance" : `Allowance of ${principal}`),
      action: current ? "Save the allowance" : "Grant the allowance",
      content: [chosen?.element, limit.element, days.element, told],
      fields: { epsilon_limit: limit.input, window_days: days.input },
      check: () => [chosen?.check() ?? true, checkEpsilon(limit.input)].every(Boolean),
    },
    () =>
      call("PUT", at(dataset, who()), {
        epsilon_limit: limit.input.value.trim(),
        window_days: days.input.value.trim() || null,
      }),
  );
  if (granted) toast(`${who()} may spend ε ${limit.input.value.trim()}.`);
  return granted;
}

/** Say what revoking does, and revoke an allowance; return whether it was revoked. */
export async function revokeAllowance(
  /** @type {string} */ dataset,
  /** @type {any} */ { principal, epsilon_spent: spent },
) {
  const done = await confirmThenSend(
    {
      question: `Revoke ${principal}'s access?`,
      action: "Revoke",
      harmful: true,
      content: h(
        "ul",
        {},
        h("li", {}, "It no longer sees the dataset or any of its releases, from now on."),
        h("li", {}, `What it has spent, ε ${costText(spent)}, stays spent. What it knows, it knows.`),
        h("li", {}, "You can grant the allowance again later."),
      ),
    },
    () => call("DELETE", at(dataset, principal)),
  );
  if (done !== undefined) toast(`${principal} no longer has access.`);
  return done !== undefined;
}
