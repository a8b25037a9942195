// Who may publish answers of a dataset.

/** @typedef {{ rules: boolean }} Publisher whether it may also make figures public, and change those of others */

/**
 * Return what somebody may publish of a dataset, by the answer about its budget; null if nothing.
 * @param {{ role: string }} me
 * @param {any} budget
 * @returns {Publisher | null}
 */
export function publisherOf({ role }, budget) {
  const rules = budget.allowances !== undefined && role !== "auditor";
  return rules || budget.allowance ? { rules } : null;
}
