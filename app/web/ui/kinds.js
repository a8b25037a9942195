// The kinds of columns in the words for people. A pure module.

/** @type {[string, string][]} */
export const KINDS = [
  ["integer", "whole number"],
  ["real", "number"],
  ["decimal", "exact decimal, such as money"],
  ["category", "category"],
  ["boolean", "true or false"],
  ["date", "date"],
  ["timestamp", "date and time"],
];

/** Return what a column holds, in a word or three. */
export const kindText = (/** @type {{ kind: string }} */ { kind }) =>
  new Map(KINDS).get(kind)?.replace(/,.*/, "") ?? kind;
