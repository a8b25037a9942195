// An act of an owner: it is asked before, sent, and if it is refused asked again with the reason.

import { agreed, alertOf, confirmed, fill, h, setError } from "../ui/dom.js";

/** @typedef {import("../ui/element.js").Content} Content */

/** Show what is wrong at the fields that it is about; return whether anything is left to say elsewhere. */
function showErrors(/** @type {any} */ error, /** @type {Record<string, HTMLElement>} */ fields) {
  const problems = error.errors ?? [];
  for (const { where, what } of problems) if (fields[where]) setError(fields[where], what);
  return problems.length === 0 || problems.some((/** @type {any} */ { where }) => !fields[where]);
}

/**
 * Ask before an act, then send it. Return its answer, or undefined if the user went back.
 * @template Answer
 * @param {{ question: string, action: string, harmful?: boolean, content: Content, fields?: Record<string, HTMLElement>,
 *   check?: () => boolean }} parts `fields` are the controls by the members of the request; `check` marks what is wrong
 * @param {() => Promise<Answer>} send
 * @returns {Promise<Answer | undefined>}
 */
export async function confirmThenSend(
  { question, action, harmful = false, content, fields = {}, check = () => true },
  send,
) {
  const trouble = h("div");
  while (await (harmful ? confirmed : agreed)(question, action, content, trouble)) {
    fill(trouble);
    for (const control of Object.values(fields)) setError(control, null);
    if (!check()) continue;
    try {
      return await send();
    } catch (error) {
      if (/** @type {any} */ (error).status === 401) throw error;
      if (showErrors(error, fields)) fill(trouble, alertOf(error));
    }
  }
  return undefined;
}
