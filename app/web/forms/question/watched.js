// Errors at the fields: shown after the field was left, and gone as soon as it is mended.

import { setError } from "../../ui/dom.js";

/**
 * Watch controls that are right or wrong together; the error stands at the last one. `problem` returns it, or null.
 * Returns `show`, which shows an error that the service found; at a control that is being typed in, it waits.
 */
export function watched(controls, problem) {
  const last = controls.at(-1);
  let left = false;
  let found = null; // by the service
  const draw = () => setError(last, problem() ?? found);
  for (const control of controls) {
    control.addEventListener("blur", () => {
      left = true;
      draw();
    });
    control.addEventListener("input", () => {
      found = null;
      if (left) draw();
    });
  }
  return {
    problem,
    show(message) {
      found = message;
      if (message !== null && controls.includes(document.activeElement)) return;
      if (found !== null || left) draw();
    },
  };
}
