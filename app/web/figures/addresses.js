// Where a figure is: in the interface, in the dashboard, and as a page for everybody.

import { path } from "../api.js";

/** @typedef {{ dataset: string, figure: string }} Named the names of a dataset and of its figure */

const versionPart = (/** @type {number | null} */ version) => (version === null ? [] : ["versions", String(version)]);

/** Return the path of a figure below `/v1`, or that of one of its versions. */
export const figurePath = (/** @type {Named} */ { dataset, figure }, /** @type {number | null} */ version = null) =>
  path("datasets", dataset, "figures", figure, ...versionPart(version));

/** Return the address of a figure's rows in a form, such as `csv`. */
export const rowsAddress = (
  /** @type {Named} */ named,
  /** @type {string} */ form,
  /** @type {number | null} */ version = null,
) => `/v1${figurePath(named, version)}.${form}`;

/** Return the address of a figure in the dashboard. */
export const screenAddress = (/** @type {Named} */ { dataset, figure }, /** @type {number | null} */ version = null) =>
  `#${path("figures", dataset, figure, ...versionPart(version))}`;

/** Return the address of a figure's own page, or of its picture with a suffix such as `.svg`. */
export const pageAddress = (/** @type {Named} */ { dataset, figure }, suffix = "") =>
  `${path("figures", dataset, figure)}${suffix}`;
