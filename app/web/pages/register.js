// The page where owners register a table: choose it, declare what is public of it, register it, and grant access.

import { callSlowly, listed, upload } from "../api.js";
import { BY_HAND } from "../registration/column_list.js";
import { carryOver, emptyMetadata } from "../registration/declaration.js";
import { descriptionForm } from "../registration/description_form.js";
import { registrationResult } from "../registration/result.js";
import { tableSource } from "../registration/table_source.js";
import { alertOf, announce, card, empty, fill, h, skeleton } from "../ui/dom.js";

/**
 * @typedef {import("../registration/declaration.js").Metadata} Metadata
 * @typedef {import("../registration/declaration.js").LeftOut} LeftOut
 * @typedef {import("../registration/table_source.js").Table} Table
 */

const LEAD = "Everybody with access sees what you declare here: write what is known without looking at the data.";

/** Ask the service for the draft of a table. @returns {Promise<{ metadata: Metadata, left_out: LeftOut[] }>} */
function askForDraft(/** @type {Table} */ table, /** @type {AbortSignal} */ signal) {
  if ("source" in table) return callSlowly("/drafts", JSON.stringify(table), signal);
  const body = new FormData();
  body.append("metadata", JSON.stringify(table.known));
  body.append("file", table.file);
  return upload("/draft-uploads", body, signal);
}

export async function register() {
  const described = h("section", { "aria-label": "Description", tabindex: "-1" });
  const own = await listed("/datasets", "datasets").then(({ items }) =>
    items.filter(({ source }) => source).map(({ name }) => name),
  );
  let running = new AbortController();
  /** @type {Metadata | null} */
  let before = null;
  /** @type {string[]} */
  let leftByHand = [];
  /** @type {string | undefined} */
  let draftedName;
  const hold = (/** @type {Event} */ event) => event.preventDefault(); // a file that misses the place must not replace the page
  const whole = h("div", { dragover: hold, drop: hold });

  async function draft(/** @type {Table} */ table) {
    running.abort();
    const mine = new AbortController();
    running = mine;
    window.addEventListener("hashchange", () => mine.abort(), { once: true });
    const stop = h("button", { type: "button", class: "quiet small", click: () => mine.abort() }, "Stop");
    fill(described, card("Reading the table …", [skeleton(4), stop]));
    announce("Reading the table …");
    try {
      const { metadata, left_out: leftOut } = await askForDraft(table, mine.signal);
      const again = leftByHand.filter((name) => name in metadata.columns);
      const known = [...Object.keys(metadata.columns), ...leftOut.map(({ column }) => column)];
      const carried = carryOver(metadata, before, again, { name: draftedName, known });
      draftedName = metadata.name;
      describe(table, carried, [...leftOut, ...again.map((column) => ({ column, reason: BY_HAND }))]);
      announce(`${Object.keys(metadata.columns).length} columns are drafted.`);
      described.focus();
    } catch (error) {
      if (running !== mine) return;
      fill(described, mine.signal.aborted ? null : alertOf(error), byHand(table));
      announce("");
    }
  }
  function describe(/** @type {Table} */ table, /** @type {Metadata} */ metadata, /** @type {LeftOut[]} */ leftOut) {
    const keep = (/** @type {Metadata} */ changed, /** @type {string[]} */ left) => {
      [before, leftByHand] = [changed, left];
    };
    const done = (/** @type {any} */ dataset) => {
      fill(whole, registrationResult(dataset));
      const heading = /** @type {HTMLElement} */ (document.querySelector("h1"));
      heading.textContent = `${dataset.name} is registered`;
      document.querySelector(".lead")?.remove();
      heading.focus();
      announce(`${dataset.name} is registered: ${dataset.n} rows.`);
    };
    fill(
      described,
      descriptionForm(
        table,
        metadata,
        leftOut.filter(({ column }) => !(column in metadata.columns)),
        own,
        keep,
        done,
      ),
    );
  }
  /** Return how to go on without a draft. */
  function byHand(/** @type {Table} */ table) {
    return empty(
      "No draft",
      "Mend the table and choose it again, say above how an unusual file is written, or describe it yourself.",
      h(
        "button",
        { type: "button", class: "quiet", click: () => describe(table, before ?? emptyMetadata(), []) },
        "Describe it without a draft",
      ),
    );
  }
  fill(whole, card("The table", await tableSource(draft)), described);
  return { content: whole, lead: LEAD };
}
