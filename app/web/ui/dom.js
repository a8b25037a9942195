// The only module that creates elements. Text always becomes a text node, so no name can become markup.

/** Return the children of an element: flatten nested lists, and omit what is missing. */
const contents = (children) => children.flat(Infinity).filter((child) => child != null && child !== false && child !== "");

/** Create an element: `properties` are attributes, or listeners if the value is a function. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...contents(children));
  return element;
}

/** Replace the content of an element by `children`. */
export function fill(element, ...children) {
  element.replaceChildren(...contents(children));
  return element;
}

/** Tell a screen reader what happened, without moving the focus. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** Return a problem as text; a screen reader reads it at once. */
export function alertOf(error) {
  const lines = (error.errors ?? []).map(({ where, what }) => h("li", {}, `${where}: ${what}`));
  return h("div", { role: "alert", class: "alert" },
    h("p", {}, h("strong", {}, error.title ?? "Something went wrong"), ". ", error.message),
    lines.length > 0 && h("ul", {}, lines));
}

let numbered = 0;

/** Return a control with its label and a hint. */
export function field(label, control, hint) {
  control.id ||= `field-${++numbered}`;
  const described = hint && h("small", { id: `${control.id}-hint` }, hint);
  if (described) control.setAttribute("aria-describedby", described.id);
  return h("div", { class: control.type === "checkbox" ? "field check" : "field" },
    h("label", { for: control.id }, label), control, described);
}

export function select(options, chosen, properties = {}) {
  const made = options.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
  return h("select", properties, made);
}

/** Return a table with a caption. `numeric` has the positions of numeric columns; a row's first cell is its header. */
export function table(caption, headings, rows, numeric = []) {
  const style = (position) => (numeric.includes(position) ? "number" : null);
  const cell = (content, position) =>
    h(position === 0 ? "th" : "td", { scope: position === 0 ? "row" : null, class: style(position) }, content);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, headings.map((text, at) => h("th", { scope: "col", class: style(at) }, text)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell))))));
}

/** Return a list of names with their values. */
export function facts(pairs) {
  return h("dl", { class: "facts" },
    pairs.filter(([, value]) => value != null)
      .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** Show a dialog before an action that cannot be undone, with `fields` for it; return whether the user confirmed. */
export function confirmed(question, action, ...fields) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-labelledby": "question", close: () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    } },
    h("p", { id: "question" }, question), fields,
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "quiet", click: () => dialog.close("no") }, "Cancel"),
      h("button", { type: "button", class: "danger", click: () => dialog.close("yes") }, action)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Return a form that calls `submit` without leaving the page, not twice at the same time, and shows its errors. */
export function form(properties, submit, ...children) {
  const trouble = h("div");
  const made = h("form", { ...properties, submit: async (event) => {
    event.preventDefault();
    const button = made.querySelector("button[type=submit]");
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    fill(trouble);
    try {
      await submit();
    } catch (error) {
      fill(trouble, alertOf(error));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  } }, ...children, trouble);
  return made;
}
