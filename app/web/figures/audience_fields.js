// The choice of who may see a figure or a collection, with the confirmation that everybody may.

import { field, h, select, setError } from "../ui/dom.js";

const EVERYBODY = "Yes: everybody who reaches this service may read it";

/**
 * Return the choice between `viewers`, in words, and everybody. Without `rules` there is none.
 * @param {string} viewers
 * @param {boolean} rules
 * @param {string} chosen
 * @param {() => void} [change]
 */
export function audienceFields(viewers, rules, chosen, change = () => {}) {
  const who = select(
    [
      ["viewers", viewers],
      ["public", "everybody, without a key"],
    ],
    rules ? chosen : "viewers",
    {
      change: () => {
        show();
        change();
      },
    },
  );
  const confirm = h("input", { type: "checkbox" });
  const confirming = field(EVERYBODY, confirm);
  const show = () => {
    confirming.hidden = who.value !== "public";
  };
  show();
  const check = () => {
    const isMissing = who.value === "public" && !confirm.checked;
    setError(confirm, isMissing ? "Confirm that everybody may read it." : null);
    return !isMissing;
  };
  return {
    who,
    confirm,
    check,
    content: rules
      ? [field("Who may see it", who), confirming]
      : h(
          "p",
          { class: "muted" },
          "Those who see the dataset and its viewers may see it. Its owner can make it public.",
        ),
  };
}
