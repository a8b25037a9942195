// What pages are made of: import everything from here. docs/decisions/0032-dashboard-design.md has the list.

export { card, facts, lines } from "./card.js";
export { combobox } from "./combobox.js";
export { agreed, confirmed, openDialog } from "./dialog.js";
export { announce, fill, h, newId, svg } from "./element.js";
export { field, select, setError, validate } from "./field.js";
export { form } from "./form.js";
export { alertOf, badge, chip, empty, notice, skeleton } from "./messages.js";
export { longList, table } from "./table.js";
export { help, term } from "./term.js";
export { toast } from "./toast.js";
