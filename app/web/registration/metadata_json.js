// The metadata as JSON, for whoever would rather write it: what is typed here is what the fields above show.

import { field, h, setError } from "../ui/dom.js";
import { parseMetadata } from "./declaration.js";

/** @typedef {import("./declaration.js").Metadata} Metadata */

const LINES = 18;

/**
 * Return the JSON of the metadata in a fold. `replace` is called with what was typed, once it was left.
 * @param {() => Metadata} read
 * @param {(metadata: Metadata) => void} replace
 */
export function metadataJson(read, replace) {
  const render = () => JSON.stringify(read(), null, 1);
  const input = h("textarea", {
    rows: LINES,
    spellcheck: "false",
    autocapitalize: "off",
    input: () => {
      typed = true;
    },
    change: () => take(),
  });
  let typed = false;
  /** Replace the metadata by what was typed, if something was; return whether it can be read. */
  function take() {
    if (!typed) return true;
    try {
      replace(parseMetadata(input.value));
      typed = false;
      setError(input, null);
      return true;
    } catch (error) {
      setError(input, `This is not the JSON of a registration: ${/** @type {Error} */ (error).message}`);
      return false;
    }
  }
  const refresh = () => {
    if (!typed) input.value = render();
  };
  const element = h(
    "details",
    { class: "fold", toggle: refresh },
    h(
      "summary",
      {},
      h("span", { class: "fold-title" }, "Advanced: the JSON"),
      h("span", { class: "muted" }, "What is sent, for you to read or to write."),
    ),
    h(
      "div",
      { class: "fold-body" },
      field(
        "Metadata (JSON)",
        input,
        "The members are those of a registration over HTTP; the fields above follow what you write here.",
      ),
    ),
  );
  return { element, refresh, take, input };
}
