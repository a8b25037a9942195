// The page where owners register a table, with a file and with metadata that everybody with access will see.

import { path, upload } from "../api.js";
import { announce, field, form, h, table } from "../ui/dom.js";

const DRAFT = `{
  "name": "my-table",
  "description": "",
  "epsilon_limit": "1",
  "rows_per_unit": 1,
  "columns": {
    "age": {"kind": "integer", "bounds": [0, 120]},
    "answer": {"kind": "category", "categories": ["yes", "no"]}
  }
}`;

/** Show what only the owner is told, and only now. */
function showReport(name, { rows, columns, advice }) {
  const cell = (counts, member) => (counts[member] == null ? "" : counts[member].toLocaleString("en"));
  const members = ["missing", "clamped_low", "clamped_high", "undeclared"];
  const dialog = h("dialog", { class: "wide", "aria-label": `Report on ${name}` },
    table(`${rows.toLocaleString("en")} rows of ${name}: only you see this, and only now`,
      ["Column", "Missing", "Below the bounds", "Above the bounds", "Undeclared"],
      Object.entries(columns).map(([column, counts]) => [column, ...members.map((member) => cell(counts, member))]),
      [1, 2, 3, 4]),
    advice.length > 0 && h("ul", {}, advice.map((text) => h("li", {}, text))),
    h("button", { type: "button", click: () => dialog.remove() }, "Close"));
  document.body.append(dialog);
  dialog.show();
}

export function register() {
  const file = h("input", { type: "file", required: true, accept: ".csv,.tsv,.txt,.parquet,.xlsx,text/csv" });
  const schema = h("textarea", { "rows": 16, required: true, spellcheck: "false", autocapitalize: "off", value: DRAFT });
  const submit = async () => {
    announce("Uploading …");
    const body = new FormData();
    body.append("metadata", schema.value); // as text, so that every number stays the decimal that was written
    body.append("file", file.files[0]);
    const dataset = await upload("/datasets", body).catch((error) => {
      announce("");
      throw error;
    });
    location.hash = `#${path("datasets", dataset.name)}`;
    if (dataset.report) showReport(dataset.name, dataset.report);
    announce(`${dataset.name} is registered: ${dataset.n} rows.`);
  };
  return form({ class: "card" }, submit,
    h("p", {}, "Bounds and categories are public: write what you know without looking at the data. Columns that are not ",
      "named here are not stored."),
    field("File", file, "CSV, Excel (.xlsx) or Parquet. One row for each person, or set rows_per_unit."),
    field("Metadata (JSON)", schema,
      "Kinds: integer, real and decimal with bounds, decimal with scale, boolean, category with categories, "
        + "date with bounds, timestamp with bounds, time_zone and resolution. What is unusual in a text file is "
        + 'declared too: "format": {"encoding": "windows-1252", "decimal": ","}.'),
    h("div", { class: "buttons" }, h("button", { type: "submit" }, "Register")));
}
