// What is shown after a registration: the report for the owner alone, and the first allowances.

import { call, listed, path } from "../api.js";
import {
  alertOf,
  badge,
  card,
  combobox,
  field,
  fill,
  form,
  h,
  help,
  notice,
  skeleton,
  table,
  toast,
} from "../ui/dom.js";
import { count, person } from "../ui/format.js";

const COUNTED = [
  ["missing", "Missing"],
  ["clamped_low", "Below the bounds"],
  ["clamped_high", "Above the bounds"],
  ["undeclared", "Undeclared"],
];
const SHARE = 20; // more than a twentieth of the rows is pointed out

/** Return the report, or why there is none. */
function reportCard(/** @type {any} */ { name, n, report }) {
  if (!report)
    return card(
      "Report",
      h("p", {}, "There is no report: the table has more than 1,000 columns, or could not be read again."),
    );
  const cell = (/** @type {any} */ counts, /** @type {string} */ member) => {
    if (counts[member] == null) return "";
    const text = counts[member].toLocaleString("en");
    return counts[member] * SHARE > n ? h("strong", { class: "refused" }, text) : text;
  };
  const of = Object.entries(/** @type {Record<string, any>} */ (report.columns));
  const notable = of.filter(([, counts]) => COUNTED.some(([member]) => counts[member] > 0));
  const rows = (/** @type {typeof of} */ some) =>
    some.map(([column, counts]) => [column, ...COUNTED.map(([member]) => cell(counts, member))]);
  const shown = (/** @type {typeof of} */ some, /** @type {string} */ caption) =>
    table(caption, ["Column", ...COUNTED.map(([, heading]) => heading)], rows(some), [1, 2, 3, 4]);
  return card("How the declaration fits the values", [
    notice(
      "warn",
      h(
        "p",
        {},
        h("strong", {}, "Only you see this, and only now. "),
        "It is not stored: these numbers of rows are facts about the data.",
      ),
    ),
    report.advice.length > 0 &&
      h(
        "ul",
        {},
        report.advice.map((/** @type {string} */ text) => h("li", {}, text)),
      ),
    notable.length === 0
      ? h("p", { class: "good-text" }, "Every value is known, within the bounds and declared.")
      : shown(notable, `Numbers of rows, of ${count(report.rows, "row")} of ${name}`),
    notable.length > 0 &&
      notable.length < of.length &&
      h(
        "p",
        { class: "muted" },
        `${count(of.length - notable.length, "other column")} ${of.length - notable.length === 1 ? "fits" : "fit"}: all values are known, within the bounds and declared.`,
      ),
  ]);
}

/** Return the form that grants allowances, with those that were granted here. */
async function grantCard(/** @type {string} */ name) {
  const at = path("datasets", name);
  const { items } = await listed(`${at}/grantees`, "grantees");
  const who = combobox(
    "Who",
    items.map(({ name: value, display_name: shown, role }) => ({ value, text: person(value, shown), note: role })),
  );
  const limit = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", value: "1", required: true });
  const days = h("input", { type: "text", inputmode: "numeric", autocomplete: "off" });
  const granted = h("ul", { class: "plain" });
  who.input.required = true;
  const submit = async () => {
    const [principal, epsilon] = [who.value, limit.value.trim()];
    await call("PUT", `${at}/allowances/${encodeURIComponent(principal)}`, {
      epsilon_limit: epsilon,
      window_days: days.value.trim() || null,
    });
    granted.append(
      h(
        "li",
        {},
        badge("access", "good"),
        ` ${principal} may spend ε ${epsilon}${days.value.trim() ? ` every ${days.value.trim()} days` : ""}.`,
      ),
    );
    toast(`${principal} may spend ε ${epsilon}.`);
    who.value = "";
  };
  return card("Grant access", [
    h(
      "p",
      {},
      "Nobody sees the dataset until you grant an allowance: the ε that one person may spend on it. ",
      help("allowance"),
    ),
    form(
      {},
      submit,
      h(
        "div",
        { class: "columns" },
        h("div", {}, who.element),
        h(
          "div",
          { class: "pair" },
          field("May spend (ε)", limit),
          field("Days (optional)", days, "Renewed after so many days."),
        ),
      ),
      granted,
      h("div", { class: "buttons" }, h("button", { type: "submit" }, "Grant access")),
    ),
  ]);
}

/**
 * Return what an owner does next with a dataset that was just registered. The report is there whatever else fails,
 * since it comes only once.
 */
export function registrationResult(/** @type {any} */ dataset) {
  const grant = h("div", {}, skeleton(3));
  grantCard(dataset.name).then(
    (made) => fill(grant, made),
    (error) => fill(grant, alertOf(error)),
  );
  return [
    reportCard(dataset),
    grant,
    h("div", { class: "buttons" }, h("a", { href: `#${path("datasets", dataset.name)}` }, `Open ${dataset.name}`)),
  ];
}
