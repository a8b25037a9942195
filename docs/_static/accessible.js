// What the theme leaves out for those who read by ear or by keyboard.
for (const [elements, attribute, value] of [
  ["p.caption[role=heading]", "aria-level", "2"],
  ["aside.sidebar-drawer", "aria-label", "All pages"],
  ["aside.toc-drawer", "aria-label", "This page"],
  [".highlight pre, .table-wrapper", "tabindex", "0"],
]) {
  for (const element of document.querySelectorAll(elements)) element.setAttribute(attribute, value);
}
