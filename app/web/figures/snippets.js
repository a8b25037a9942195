// What shows or reads a figure elsewhere: a frame, a command and a program. A pure module.

import { pageAddress, rowsAddress } from "./addresses.js";

/** @typedef {import("./addresses.js").Named & { title: string, audience: string }} Figure */

const attribute = (/** @type {string} */ text) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Return the frame that shows a figure in another page. */
export const frame = (/** @type {Figure} */ figure, /** @type {string} */ origin) =>
  `<iframe src="${origin}${pageAddress(figure)}" title="${attribute(figure.title)}" width="800" height="600"></iframe>`;

/** Return the command that reads a figure's rows; a public figure needs no key. */
export const curl = (/** @type {Figure} */ figure, /** @type {string} */ origin) =>
  `curl --silent ${figure.audience === "public" ? "" : '--user "any:$SNAPLEDGER_KEY" '}'${origin}${rowsAddress(figure, "csv")}'`;

/** Return the program that reads a figure's rows. */
export const python = (/** @type {Figure} */ { dataset, figure }, /** @type {string} */ origin) =>
  [
    "from snapledger_client import Client",
    "",
    `client = Client(${JSON.stringify(origin)})  # the key is in SNAPLEDGER_KEY`,
    `figure = client.dataset(${JSON.stringify(dataset)}).figure(${JSON.stringify(figure)})`,
    "print(figure.rows)",
  ].join("\n");
