// The page where owners register a table: choose it, declare what is public of it, register it, and grant access.

import { callSlowly, listed, upload } from "../api.js";
import { BY_HAND, columnList } from "../registration/column_list.js";
import { datasetFields } from "../registration/dataset_fields.js";
import { carryOver, emptyMetadata, nameColumns } from "../registration/declaration.js";
import { metadataJson } from "../registration/metadata_json.js";
import { registrationResult } from "../registration/result.js";
import { tableSource } from "../registration/table_source.js";
import { alertOf, announce, card, empty, fill, form, h, skeleton } from "../ui/dom.js";

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
  return upload("/drafts", body, signal);
}

/** Register a table as it is described. */
function send(/** @type {Table} */ table, /** @type {Metadata} */ metadata) {
  const text = JSON.stringify("source" in table ? { ...metadata, source: metadata.source ?? table.source } : metadata);
  if ("source" in table) return callSlowly("/datasets", text);
  const body = new FormData();
  body.append("metadata", text);
  body.append("file", table.file);
  return upload("/datasets", body);
}

/** Return the form that describes a table and registers it. */
function descriptionForm(/** @type {Table} */ table, /** @type {Metadata} */ given, /** @type {LeftOut[]} */ leftOut, /** @type {string[]} */ own,
  /** @type {(metadata: Metadata, leftByHand: string[]) => void} */ keep, /** @type {(dataset: any) => void} */ done) {
  let metadata = given;
  let columns = columnList(metadata, leftOut, changed);
  let dataset = datasetFields(metadata, names(), own, changed);
  const [first, second, progress] = [h("div"), h("div"), h("span", { class: "muted" })];
  const json = metadataJson(() => metadata, (typed) => {
    const gone = [...columns.leftByHand(), ...Object.keys(metadata.columns)].map((column) => ({ column, reason: BY_HAND }));
    const others = [...leftOut.filter(({ reason }) => reason !== BY_HAND), ...gone].filter(({ column }) => !(column in typed.columns));
    metadata = typed;
    draw(columns = columnList(metadata, others, changed),
      dataset = datasetFields(metadata, names(), own, changed));
  });

  function names() { return [...Object.keys(given.columns), ...leftOut.map(({ column }) => column)]; }
  function changed() { keep(metadata, columns.leftByHand()); json.refresh(); }
  function draw(/** @type {typeof columns} */ one, /** @type {typeof dataset} */ other) {
    fill(first, one.element);
    fill(second, other.element);
    keep(metadata, one.leftByHand());
  }
  const submit = async () => {
    if (!json.take()) return json.input.focus();
    const [field, column] = [dataset.firstWrong(), columns.firstWrong()];
    if (column !== null) columns.show(column);
    else field?.focus();
    if (field !== null || column !== null) return announce("Something is still to be mended before the table can be registered.");
    if (Object.keys(metadata.columns).length === 0) throw Object.assign(new Error("Declare at least one column."), { title: "No column is declared" });
    fill(progress, "The table is sent and checked …");
    announce("Registering …");
    try {
      done(await send(table, metadata));
    } catch (error) {
      fill(progress);
      announce("");
      const named = nameColumns(error, Object.keys(metadata.columns));
      for (const { column: wrong, what } of named.errors) if (wrong) columns.editorOf(wrong).fault(what);
      throw named;
    }
    return null;
  };
  draw(columns, dataset);
  return form({}, submit, card("Columns", [h("p", { class: "muted" }, "Open each column and confirm what it declares. Columns that are left out are not stored."), first]),
    card("The dataset", second), json.element,
    h("div", { class: "actions" }, h("button", { type: "submit" }, "Register the table"), progress));
}

export async function register() {
  const described = h("section", { "aria-label": "Description", tabindex: "-1" });
  const own = await listed("/datasets", "datasets").then(({ items }) => items.filter(({ source }) => source).map(({ name }) => name));
  let running = new AbortController();
  /** @type {Metadata | null} */
  let before = null;
  /** @type {string[]} */
  let leftByHand = [];
  const hold = (/** @type {Event} */ event) => event.preventDefault(); // a file that misses the place must not replace the page
  const whole = h("div", { dragover: hold, drop: hold });

  async function draft(/** @type {Table} */ table) {
    running.abort();
    const mine = running = new AbortController();
    window.addEventListener("hashchange", () => mine.abort(), { once: true });
    const stop = h("button", { type: "button", class: "quiet small", click: () => mine.abort() }, "Stop");
    fill(described, card("Reading the table …", [skeleton(4), stop]));
    announce("Reading the table …");
    try {
      const { metadata, left_out: leftOut } = await askForDraft(table, mine.signal);
      const again = leftByHand.filter((name) => name in metadata.columns);
      describe(table, carryOver(metadata, before, again), [...leftOut, ...again.map((column) => ({ column, reason: BY_HAND }))]);
      announce(`${Object.keys(metadata.columns).length} columns are drafted.`);
      described.focus();
    } catch (error) {
      if (running !== mine) return;
      fill(described, mine.signal.aborted ? null : alertOf(error), byHand(table));
      announce("");
    }
  }
  function describe(/** @type {Table} */ table, /** @type {Metadata} */ metadata, /** @type {LeftOut[]} */ leftOut) {
    const keep = (/** @type {Metadata} */ changed, /** @type {string[]} */ left) => { [before, leftByHand] = [changed, left]; };
    const done = (/** @type {any} */ dataset) => {
      fill(whole, registrationResult(dataset));
      const heading = /** @type {HTMLElement} */ (document.querySelector("h1"));
      heading.textContent = `${dataset.name} is registered`;
      document.querySelector(".lead")?.remove();
      heading.focus();
      announce(`${dataset.name} is registered: ${dataset.n} rows.`);
    };
    fill(described, descriptionForm(table, metadata, leftOut.filter(({ column }) => !(column in metadata.columns)), own, keep, done));
  }
  /** Return how to go on without a draft. */
  function byHand(/** @type {Table} */ table) {
    return empty("No draft", "Mend the table and choose it again, say above how an unusual file is written, or describe it yourself.",
      h("button", { type: "button", class: "quiet", click: () => describe(table, before ?? emptyMetadata(), []) }, "Describe it without a draft"));
  }
  fill(whole, card("The table", await tableSource(draft)), described);
  return { content: whole, lead: LEAD };
}
