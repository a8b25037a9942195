// A form that sends its content without leaving the page.

import { fill, h } from "./element.js";
import { alertOf } from "./messages.js";

/**
 * Return a form that calls `submit` without leaving the page, not twice at the same time, and shows its errors.
 * @param {import("./element.js").Properties} properties
 * @param {() => any} submit
 * @param {...import("./element.js").Content} children
 */
export function form(properties, submit, ...children) {
  const trouble = h("div");
  const made = h(
    "form",
    {
      ...properties,
      submit: async (/** @type {Event} */ event) => {
        event.preventDefault();
        const button = made.querySelector("button[type=submit]");
        if (button?.getAttribute("aria-disabled") === "true") return;
        button?.setAttribute("aria-disabled", "true");
        fill(trouble);
        try {
          await submit();
        } catch (error) {
          fill(trouble, alertOf(error));
        } finally {
          button?.removeAttribute("aria-disabled");
        }
      },
    },
    ...children,
    trouble,
  );
  return made;
}
