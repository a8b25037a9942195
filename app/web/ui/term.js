// Explains a term where it is used: a button after it opens what the glossary says, with a link to the guide.

import { h } from "./element.js";
import { GLOSSARY } from "./glossary.js";

let numbered = 0;

/** Put an open explanation below its button, within the width of the page. */
function place(explanation, button) {
  const { left, bottom } = button.getBoundingClientRect();
  const most = document.documentElement.clientWidth - explanation.offsetWidth - 8;
  explanation.style.left = `${Math.max(8, Math.min(left, most)) + scrollX}px`;
  explanation.style.top = `${bottom + 4 + scrollY}px`;
}

function explain(name, button) {
  const { meaning, more } = GLOSSARY[name];
  const id = `term-${++numbered}`;
  const explanation = h(
    "span",
    {
      id,
      class: "explanation",
      popover: "auto",
      role: "dialog",
      "aria-labelledby": `${id}-name`,
      tabindex: "-1",
      autofocus: true,
      toggle: ({ newState }) => newState === "open" && place(explanation, button),
    },
    h("strong", { id: `${id}-name` }, name),
    h("span", {}, meaning),
    h("a", { href: `/guide/${more}`, target: "_blank", rel: "noopener" }, "More in the guide"),
  );
  button.after(explanation);
  button.popoverTargetElement = explanation; // the browser now opens it, and closes it with Escape or a click elsewhere
}

/** Return a button that explains a term of the glossary, for beside a label or in a heading. */
export function help(name) {
  if (!Object.hasOwn(GLOSSARY, name)) throw new Error(`docs/glossary.md has no term "${name}"`);
  const button = h(
    "button",
    {
      type: "button",
      class: "help",
      "aria-label": `What is “${name}”?`,
      click: () => button.popoverTargetElement ?? explain(name, button),
    },
    "?",
  );
  return button;
}

/** Return words with the explanation of their term after them: `term("cost", "ε")`. */
export const term = (name, words = name) => h("span", { class: "term" }, words, " ", help(name));
