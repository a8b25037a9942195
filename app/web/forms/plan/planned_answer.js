// A plan of a release and a plan of a derived statistic as one thing: what it costs, and how wide the interval is.

const NANO = 9;

/** Return an ε as ledger units, exactly. */
export function toNano(epsilon) {
  const [whole, part = ""] = epsilon.split(".");
  return BigInt(whole + part.padEnd(NANO, "0").slice(0, NANO));
}

/** Return ledger units as a decimal. */
export function fromNano(nano) {
  const digits = nano.toString().padStart(NANO + 1, "0");
  return `${digits.slice(0, -NANO)}.${digits.slice(-NANO)}`.replace(/\.?0+$/, "");
}

/** Return what a caller can spend now, in ledger units: 0 without an allowance. */
export function spendable({ dataset_remaining: ofDataset, allowance_remaining: ofAllowance }) {
  if (ofAllowance === null) return 0n;
  return Number(ofAllowance) < Number(ofDataset) ? toNano(ofAllowance) : toNano(ofDataset);
}

/**
 * Return `{to, plan, epsilon, charged, free, affordable, covers, radius, together, basis, unit, share}`: `radius` is
 * null if it is not known or the interval has no ends, and `basis` then says which.
 */
export function plannedAnswer(to, plan) {
  const { budget } = plan;
  const charged = toNano(budget.charged);
  const common = {
    to,
    plan,
    charged: budget.charged,
    free: charged === 0n,
    affordable: budget.affordable,
    covers: charged === 0n ? null : Number(spendable(budget) / charged),
  };
  if (to === "releases") {
    const accuracy = plan.reused_accuracy ?? plan.accuracy;
    return {
      ...common,
      epsilon: plan.privacy.epsilon,
      radius: accuracy.radius,
      together: accuracy.simultaneous_radius ?? null,
      basis: "promise",
      unit: plan.unit,
      share: false,
    };
  }
  const { expected } = plan;
  return {
    ...common,
    epsilon: plan.epsilon,
    radius: expected?.half_width ?? null,
    together: null,
    basis: expected ? expected.basis : "unknown",
    unit: Object.values(plan.units ?? {})[0],
    share: plan.derived.kind === "proportion",
  };
}
