// Where the table is: a file that is dropped or chosen, or a table of a connection. The service drafts its description.

import { get } from "../api.js";
import { field, fill, form, h, notice, select } from "../ui/dom.js";

/**
 * @typedef {{ file: File, known: Record<string, any> } | { source: { connection: string, table: string, live: boolean } }} Table
 */

const ACCEPT = ".csv,.tsv,.txt,.gz,.zst,.parquet,.xlsx,text/csv";
const text = (/** @type {Record<string, any>} */ properties) =>
  h("input", { type: "text", autocomplete: "off", ...properties });

/** Return fields for what a file may not show of its format, with a function that returns it. */
function formatFields() {
  const header = select(
    [
      ["", "in the first line that is not blank"],
      ["row", "in another line"],
      ["none", "nowhere: number the columns"],
    ],
    "",
    { change: show },
  );
  const row = text({ inputmode: "numeric", value: "1" });
  const encoding = select([
    ["", "detected"],
    ["utf-8", "UTF-8"],
    ["windows-1252", "Windows-1252"],
    ["latin-1", "Latin-1"],
  ]);
  const order = select([
    ["", "detected"],
    ["day-month-year", "day, month, year"],
    ["month-day-year", "month, day, year"],
  ]);
  const sheet = text({});
  const which = field("Number of the line with the names", row);
  function show() {
    which.hidden = header.value !== "row";
  }
  show();
  const known = () => {
    const place = sheet.value.trim();
    const format = {
      encoding: encoding.value || undefined,
      date_order: order.value || undefined,
      header_row: header.value === "row" ? row.value.trim() : undefined,
      sheet: place === "" ? undefined : /^[0-9]+$/.test(place) ? Number(place) : place,
    };
    return { format: JSON.parse(JSON.stringify(format)), has_header: header.value !== "none" };
  };
  const element = h(
    "details",
    {},
    h("summary", {}, "The file is unusual"),
    h(
      "div",
      { class: "columns" },
      h("div", {}, field("Names of the columns", header), which, field("Encoding of a text file", encoding)),
      h(
        "div",
        {},
        field("Order of dates such as 03/04/2024", order),
        field("Sheet of a workbook", sheet, "Its name, or its place from 1."),
      ),
    ),
  );
  return { element, known };
}

/** Return the place where a file is dropped or chosen. */
function fileChoice(/** @type {(table: Table) => Promise<void>} */ draft) {
  const file = h("input", { type: "file", accept: ACCEPT, change: () => chosen() });
  const format = formatFields();
  const again = h(
    "button",
    { type: "button", class: "quiet small", click: () => chosen(), hidden: true },
    "Read the file again",
  );
  const chosen = () => {
    const [given] = file.files ?? [];
    again.hidden = given === undefined;
    return given && draft({ file: given, known: format.known() });
  };
  const drop = h(
    "div",
    {
      class: "drop",
      dragover: (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        drop.classList.add("over");
      },
      dragleave: () => drop.classList.remove("over"),
      drop: (/** @type {DragEvent} */ event) => {
        event.preventDefault();
        drop.classList.remove("over");
        if (!event.dataTransfer?.files.length) return;
        file.files = event.dataTransfer.files;
        chosen();
      },
    },
    h("strong", {}, "Drop a file here"),
    field("or choose a file", file, "CSV, Excel (.xlsx) or Parquet."),
  );
  format.element.append(again);
  return h("div", {}, drop, format.element);
}

/** Return a form for a table of a connection. */
function connectionChoice(/** @type {any[]} */ connections, /** @type {(table: Table) => Promise<void>} */ draft) {
  const which = select(
    connections.map(({ name, leads_to: to }) => [name, `${name} (${to})`]),
    undefined,
    { change: show },
  );
  const table = text({ required: true, autocapitalize: "off", spellcheck: "false" });
  const live = h("input", { type: "checkbox" });
  const hint = h("small");
  const place = field("Table", table);
  place.append(hint);
  const stays = field(
    "Leave the data where it is",
    live,
    "The table must never change again. Otherwise its declared columns are copied.",
  );
  function show() {
    const to = connections.find(({ name }) => name === which.value)?.leads_to;
    hint.textContent =
      to === "files"
        ? "The path of a Parquet file, or of a directory of them, such as 2024/people."
        : "Such as public.people. Names are exact.";
    if (to === "Spark") live.checked = true;
    live.disabled = to === "Spark";
  }
  show();
  const submit = () => draft({ source: { connection: which.value, table: table.value.trim(), live: live.checked } });
  return form(
    { class: "narrow" },
    submit,
    field("Connection", which),
    place,
    stays,
    h("div", { class: "buttons" }, h("button", { type: "submit" }, "Draft its description")),
  );
}

/**
 * Return the choice of a table. `draft` is called with what was chosen.
 * @param {(table: Table) => Promise<void>} draft
 */
export async function tableSource(draft) {
  const { connections } = await get("/connections");
  const body = h("div");
  const file = fileChoice(draft);
  const note = notice(
    "info",
    h(
      "p",
      {},
      "The service reads the table to draft its description for you, and keeps neither. Nothing is stored before you register it.",
    ),
  );
  if (connections.length === 0) return h("div", { class: "stack" }, file, note);
  const elsewhere = connectionChoice(connections, draft);
  const chips = ["A file from this computer", "A table of a connection"].map((name, at) =>
    h("button", { type: "button", class: "chip", "aria-pressed": String(at === 0), click: () => choose(at) }, name),
  );
  function choose(/** @type {number} */ chosen) {
    for (const [at, each] of chips.entries()) each.setAttribute("aria-pressed", String(at === chosen));
    fill(body, chosen === 0 ? file : elsewhere);
  }
  choose(0);
  return h(
    "div",
    { class: "stack" },
    h("div", { class: "chips", role: "group", "aria-label": "Where the table is" }, chips),
    body,
    note,
  );
}
