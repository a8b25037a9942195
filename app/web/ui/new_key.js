// Shows a new key; the service shows it only once.

import { h } from "./dom.js";

export function newKey({ name, key }) {
  const copied = h("span", { role: "status" });
  const code = h("code", { class: "key" }, key);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(key);
      copied.textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(code);
      copied.textContent = "The key is selected: copy it now.";
    }
  };
  return h(
    "div",
    { class: "notice", role: "group", "aria-label": `The key of ${name}` },
    h("p", {}, `The key of ${name}; it is shown only this once: `, code),
    h("div", { class: "buttons" }, h("button", { type: "button", click: copy }, "Copy the key"), copied),
  );
}
