// Requests for budget: an analyst asks for more, and the owner grants or declines.

import { call, path } from "../api.js";
import { fill, h, toast } from "../ui/dom.js";
import { costText, person, sumOf } from "../ui/format.js";
import { checkEpsilon, checkText, epsilonField, reasonField } from "./amounts.js";
import { confirmThenSend } from "./confirm_then_send.js";

const DECIMAL = /^\d+(\.\d{1,9})?$/;
const requests = (/** @type {string} */ dataset, /** @type {string[]} */ ...rest) =>
  path("datasets", dataset, "budget-requests", ...rest);

/** Ask for a larger allowance; return the request, or undefined if the user went back. */
export async function askForBudget(/** @type {string} */ dataset, /** @type {any} */ allowance) {
  const more = epsilonField(
    "How much more (ε)",
    "",
    `Your allowance is ε ${allowance.epsilon_limit}, of which ${costText(allowance.epsilon_spent)} is spent.`,
  );
  const reason = reasonField("What for", "The owner reads it. It is recorded, with the answer.");
  const asked = await confirmThenSend(
    {
      question: `Ask for more budget on ${dataset}`,
      action: "Send the request",
      content: [
        h(
          "p",
          {},
          "The dataset's owner grants it, in full or in part, or declines it. You can have one open request on a dataset.",
        ),
        more.element,
        reason.element,
      ],
      fields: { epsilon: more.input, reason: reason.input },
      check: () => [checkEpsilon(more.input, 1), checkText(reason.input, "Say what you need it for.")].every(Boolean),
    },
    () => call("POST", requests(dataset), { epsilon: more.input.value.trim(), reason: reason.input.value.trim() }),
  );
  if (asked) toast("Your request is sent: the answer will be on this page.");
  return asked;
}

const quote = (/** @type {any} */ request) => h("blockquote", {}, request.reason);

/** Ask how much to grant, and grant it; return the request as it is then, or undefined. */
export async function grantRequest(/** @type {any} */ request, /** @type {any} */ allowance) {
  const who = person(request.principal, request.display_name);
  const told = h("p", { class: "muted" });
  const more = epsilonField(
    "Raise the allowance by (ε)",
    request.epsilon,
    `${who} asks for ε ${request.epsilon}. Another amount is possible.`,
  );
  const answer = reasonField("Answer (optional)", `${who} reads it, and it is recorded.`);
  const show = () =>
    fill(
      told,
      allowance &&
        DECIMAL.test(more.input.value.trim()) &&
        `${who} may then spend ε ${sumOf([allowance.epsilon_limit, more.input.value.trim()])}` +
          `${allowance.window ? ` in every ${allowance.window.days} days` : " in all"}, of which ${costText(allowance.epsilon_spent)} is spent. A grant debits nothing.`,
    );
  more.input.addEventListener("input", show);
  show();
  const granted = await confirmThenSend(
    {
      question: `Grant ${who} more budget`,
      action: "Grant",
      content: [quote(request), more.element, answer.element, told],
      fields: { epsilon: more.input, answer: answer.input },
      check: () => checkEpsilon(more.input, 1),
    },
    () =>
      call("POST", requests(request.dataset, request.id, "grant"), {
        epsilon: more.input.value.trim(),
        answer: answer.input.value.trim() || null,
      }),
  );
  if (granted) toast(`${who} has ε ${granted.granted} more.`);
  return granted;
}

/** Decline a request, perhaps with an answer; return the request as it is then, or undefined. */
export async function declineRequest(/** @type {any} */ request) {
  const who = person(request.principal, request.display_name);
  const answer = reasonField("Answer (optional)", `${who} reads it, and it is recorded.`);
  const declined = await confirmThenSend(
    {
      question: `Decline ${who}'s request?`,
      action: "Decline",
      content: [quote(request), h("p", {}, "The allowance stays as it is. It can be asked for again."), answer.element],
      fields: { answer: answer.input },
    },
    () => call("POST", requests(request.dataset, request.id, "decline"), { answer: answer.input.value.trim() || null }),
  );
  if (declined) toast("The request is declined.");
  return declined;
}
