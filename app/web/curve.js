// Radius against ε for one statistic: sampled from free plans, with both sides of every cliff.

import { call, path } from "./api.js";

const POINTS = 16;
const LEAST = 0.001;
const ABREAST = 4;
const NANO = 9;

const pointOf = (plan) => ({ epsilon: plan.privacy.epsilon, radius: plan.accuracy.radius, cliff: plan.cliff });

const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, seconds * 1000); });

/** One unit of the ledger less than an ε, exactly: the digits are counted down, not a double. */
export function justBelow(epsilon) {
  const [whole, part = ""] = epsilon.split(".");
  const digits = (BigInt(whole + part.padEnd(NANO, "0")) - 1n).toString().padStart(NANO + 1, "0");
  return `${digits.slice(0, -NANO)}.${digits.slice(-NANO)}`;
}

async function inTurn(items, ask) {
  const left = [...items];
  const found = [];
  await Promise.all(Array.from({ length: ABREAST }, async () => {
    while (left.length > 0) found.push(await ask(left.shift()));
  }));
  return found;
}

/** The largest ε that one release may cost: asked for by a plan that is too large. */
async function largest(ask) {
  try {
    await ask("1000000");
    return "1000000";
  } catch (error) {
    if (error.type === "/problems/epsilon-too-large") return error.limit;
    throw error;
  }
}

/** Points of the curve by ascending ε, each `{epsilon, radius, edge}`; `edge` marks the ε of a cliff. */
export async function curve(dataset, statistic, finer, signal) {
  const ask = async (epsilon) => {
    signal.throwIfAborted();
    try {
      return pointOf(await call("POST", `${path("datasets", dataset)}/plan`, { statistic, ...finer, epsilon }));
    } catch (error) {
      if (error.status !== 429) throw error;
      await pause(error.retryAfter); // plans are free, but not without a rate
      return ask(epsilon);
    }
  };
  const most = Math.min(Number(await largest(ask)), 1000);
  const step = (Math.log(most) - Math.log(LEAST)) / (POINTS - 1);
  const wanted = Array.from({ length: POINTS }, (_, at) => Math.min(most, LEAST * Math.exp(step * at)).toFixed(NANO));
  const points = await inTurn(wanted, ask);
  const cliffs = new Map(points.filter(({ cliff }) => cliff).map(({ cliff }) => [cliff.epsilon, cliff]));
  const below = await inTurn([...cliffs.keys()].map(justBelow), ask);
  const edges = [...cliffs.values()].map(({ epsilon, accuracy }) => ({ epsilon, radius: accuracy, edge: true }));
  return [...points, ...below, ...edges].sort((one, other) => Number(one.epsilon) - Number(other.epsilon));
}

/** The radius that the curve has at an ε between its points. */
export function radiusAt(points, epsilon) {
  const above = points.findIndex((point) => Number(point.epsilon) >= epsilon);
  if (above < 0) return points.at(-1).radius;
  if (above === 0) return points[0].radius;
  const [one, other] = [points[above - 1], points[above]];
  const [from, to] = [Number(one.epsilon), Number(other.epsilon)];
  return one.radius + ((other.radius - one.radius) * (epsilon - from)) / (to - from);
}
