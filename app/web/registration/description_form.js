// The form that describes a table and registers it.

import { callSlowly, upload } from "../api.js";
import { announce, card, fill, form, h } from "../ui/dom.js";
import { BY_HAND, columnList } from "./column_list.js";
import { datasetFields } from "./dataset_fields.js";
import { nameColumns } from "./declaration.js";
import { metadataJson } from "./metadata_json.js";

/**
 * @typedef {import("./declaration.js").Metadata} Metadata
 * @typedef {import("./declaration.js").LeftOut} LeftOut
 * @typedef {import("./table_source.js").Table} Table
 */

/** Register a table as it is described. */
function send(/** @type {Table} */ table, /** @type {Metadata} */ metadata) {
  const text = JSON.stringify("source" in table ? { ...metadata, source: metadata.source ?? table.source } : metadata);
  if ("source" in table) return callSlowly("/datasets", text);
  const body = new FormData();
  body.append("metadata", text);
  body.append("file", table.file);
  return upload("/dataset-uploads", body);
}

/** Return the form that describes a table and registers it. */
export function descriptionForm(
  /** @type {Table} */ table,
  /** @type {Metadata} */ given,
  /** @type {LeftOut[]} */ leftOut,
  /** @type {string[]} */ own,
  /** @type {(metadata: Metadata, leftByHand: string[]) => void} */ keep,
  /** @type {(dataset: any) => void} */ done,
) {
  let metadata = given;
  let columns = columnList(metadata, leftOut, changed);
  let dataset = datasetFields(metadata, names(), own, changed);
  const [first, second, progress] = [h("div"), h("div"), h("span", { class: "muted" })];
  const json = metadataJson(
    () => metadata,
    (typed) => {
      const gone = [...columns.leftByHand(), ...Object.keys(metadata.columns)].map((column) => ({
        column,
        reason: BY_HAND,
      }));
      const others = [...leftOut.filter(({ reason }) => reason !== BY_HAND), ...gone].filter(
        ({ column }) => !(column in typed.columns),
      );
      metadata = typed;
      columns = columnList(metadata, others, changed);
      dataset = datasetFields(metadata, names(), own, changed);
      draw();
    },
  );

  function names() {
    return [...Object.keys(given.columns), ...leftOut.map(({ column }) => column)];
  }
  function changed() {
    keep(metadata, columns.leftByHand());
    json.refresh();
  }
  function draw() {
    fill(first, columns.element);
    fill(second, dataset.element);
    keep(metadata, columns.leftByHand());
  }
  const submit = async () => {
    if (!json.take()) return json.input.focus();
    const [field, column] = [dataset.firstWrong(), columns.firstWrong()];
    if (column !== null) columns.show(column);
    else field?.focus();
    if (field !== null || column !== null)
      return announce("Something is still to be mended before the table can be registered.");
    if (Object.keys(metadata.columns).length === 0)
      throw Object.assign(new Error("Declare at least one column."), { title: "No column is declared" });
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
  draw();
  return form(
    {},
    submit,
    card("Columns", [
      h(
        "p",
        { class: "muted" },
        "Open each column and confirm what it declares. Columns that are left out are not stored.",
      ),
      first,
    ]),
    card("The dataset", second),
    json.element,
    h("div", { class: "actions" }, h("button", { type: "submit" }, "Register the table"), progress),
  );
}
