// Changing a dataset's limit, closing the dataset, and checking a live table again.

import { call, path } from "../api.js";
import { field, h, setError, toast } from "../ui/dom.js";
import { costText } from "../ui/format.js";
import { checkEpsilon, checkText, epsilonField, reasonField } from "./amounts.js";
import { confirmThenSend } from "./confirm_then_send.js";

/** Ask for a new limit with a reason; return the new budget, or undefined if the user went back. */
export async function changeLimit(/** @type {string} */ dataset, /** @type {any} */ budget) {
  const limit = epsilonField(
    "New limit (ε)",
    budget.epsilon_limit,
    `ε ${costText(budget.epsilon_spent)} is spent: the limit cannot be below that.`,
  );
  const reason = reasonField("Reason", "Recorded in the ledger, for whoever asks later.");
  const changed = await confirmThenSend(
    {
      question: "Change the dataset's limit",
      action: "Change the limit",
      content: [
        h(
          "p",
          {},
          "All releases together may never cost more than this, whoever asks and for as long as the dataset lasts. " +
            "A higher limit protects everybody in the table less.",
        ),
        limit.element,
        reason.element,
      ],
      fields: { epsilon_limit: limit.input, reason: reason.input },
      check: () => [checkEpsilon(limit.input), checkText(reason.input, "Say why the limit changes.")].every(Boolean),
    },
    () =>
      call("POST", `${path("datasets", dataset)}/budget/adjustments`, {
        epsilon_limit: limit.input.value.trim(),
        reason: reason.input.value.trim(),
      }),
  );
  if (changed) toast(`The dataset's limit is ε ${limit.input.value.trim()}.`);
  return changed;
}

/** Say what closing does, ask for the name, and close a dataset; return whether it was closed. */
export async function closeDataset(/** @type {string} */ dataset) {
  const name = h("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  const done = await confirmThenSend(
    {
      question: `Close ${dataset} for good?`,
      action: "Delete the data",
      harmful: true,
      content: [
        h(
          "ul",
          {},
          h("li", {}, "The service deletes its copy of the data. A table elsewhere, or your file, is not touched."),
          h("li", {}, "Nobody can release anything new. Plans, batches and derived statistics stop too."),
          h("li", {}, "Releases and the ledger can still be read, by those who can read them now."),
          h("li", {}, "The name stays taken. This cannot be undone."),
        ),
        field(`Type ${dataset} to confirm`, name),
      ],
      check: () => {
        const same = name.value.trim() === dataset;
        setError(name, same ? null : `Type the name exactly: ${dataset}`);
        return same;
      },
    },
    () => call("DELETE", path("datasets", dataset)),
  );
  if (done !== undefined) toast(`${dataset} is closed: its data is deleted.`);
  return done !== undefined;
}

/** Check a live table again; return the dataset as it is then. */
export const revalidate = (/** @type {string} */ dataset) => call("POST", `${path("datasets", dataset)}/revalidation`);
