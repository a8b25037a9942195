// Names and titles of figures. A pure module.

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const MAX_NAME = 63;

export const MAX_TITLE = 255;
export const MAX_NOTE = 2000;

/** Return whether a text can be a figure's name. */
export const isFigureName = (/** @type {string} */ text) => NAME.test(text);

/** Return a name for what a title says, such as `mean-body_mass_g` for "Mean of body_mass_g". */
export const proposeName = (/** @type {string} */ title) =>
  title
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/ (?:of|where|in|and|by) /g, " ")
    .replaceAll(/[^a-z0-9_]+/g, "-")
    .slice(0, MAX_NAME)
    .replaceAll(/^[-_]+|[-_]+$/g, "") || "figure";

/** Return a title for a question in words: without its bounds, and with a capital letter. */
export function proposeTitle(/** @type {string} */ question) {
  const text = question.replaceAll(/ (?:of )?\[[^\]]*\]/g, "");
  return (text.charAt(0).toUpperCase() + text.slice(1)).slice(0, MAX_TITLE);
}
