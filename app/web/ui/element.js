// The only module that creates elements. Text always becomes a text node, so no name can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | boolean | null | undefined | Content[]} Content */
/** @typedef {Record<string, any>} Properties */

/**
 * Return the children of an element: flatten nested lists, and omit what is missing.
 * @param {Content[]} children
 * @returns {(Node | string)[]}
 */
const contents = (children) =>
  /** @type {any[]} */ (/** @type {any[]} */ (children).flat(Infinity)).filter(
    (child) => child != null && child !== false && child !== "",
  );

/**
 * @param {Element & ElementCSSInlineStyle} element
 * @param {Properties} properties
 */
function assign(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "value" || name === "checked") /** @type {any} */ (element)[name] = value;
    else if (name === "style")
      for (const [rule, to] of Object.entries(value)) element.style.setProperty(rule, String(to));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
}

/**
 * Create an element: `properties` are attributes, listeners if the value is a function, and for `style` an object of
 * CSS properties (the policy forbids style attributes).
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...Content} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, properties);
  element.append(...contents(children));
  return element;
}

/**
 * Create an element of a picture, as `h` does.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...Content} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  assign(element, properties);
  element.append(...contents(children));
  return element;
}

/**
 * Replace the content of an element by `children`.
 * @template {Element} Filled
 * @param {Filled} element
 * @param {...Content} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...contents(children));
  return element;
}

let numbered = 0;

/** Return an id that no other element has. */
export const newId = (/** @type {string} */ kind) => `${kind}-${++numbered}`;

/** Return the element with an id of `index.html`. */
export const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Tell a screen reader what happened, without moving the focus. */
export function announce(/** @type {string} */ text) {
  byId("status").textContent = text;
}
