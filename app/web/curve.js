// Radius against ε for one statistic: the curve of a free plan, with both sides of every cliff.

import { call, path } from "./api.js";

const POINTS = 100;
const LEAST = "0.001";
const MOST = "1000";
const NANO = 9;

const pause = (seconds) => new Promise((resolve) => { setTimeout(resolve, seconds * 1000); });

/** One unit of the ledger less than an ε, exactly: the digits are counted down, not a double. */
function justBelow(epsilon) {
  const [whole, part = ""] = epsilon.split(".");
  const digits = (BigInt(whole + part.padEnd(NANO, "0")) - 1n).toString().padStart(NANO + 1, "0");
  return `${digits.slice(0, -NANO)}.${digits.slice(-NANO)}`;
}

async function planned(dataset, body, signal) {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await call("POST", `${path("datasets", dataset)}/plan`, body);
    } catch (error) {
      if (error.status !== 429) throw error;
      await pause(error.retryAfter); // plans are free, but not without a rate
    }
  }
}

/** A plan with its curve up to `to`, or up to what one release may cost where that is less. */
async function upTo(to, dataset, body, signal) {
  try {
    return await planned(dataset, { ...body, epsilon: LEAST, curve: { from: LEAST, to, points: POINTS } }, signal);
  } catch (error) {
    if (error.type !== "/problems/epsilon-too-large" || error.limit === to) throw error;
    return upTo(error.limit, dataset, body, signal);
  }
}

/** Points of the curve by ascending ε, each `{epsilon, radius, edge}`; `edge` marks the ε of a cliff. */
export async function curve(dataset, statistic, finer, signal) {
  const plan = await upTo(MOST, dataset, { statistic, ...finer }, signal);
  const { scale, grid_refinement: refinement } = plan.mechanism;
  return plan.curve.flatMap(({ epsilon, radius, cliff }, at, all) => {
    const point = { epsilon, radius, edge: cliff };
    if (!cliff || at === 0) return [point];
    // Half the grid is in the radius, and a unit below the cliff it is the scale there, to be halved: to be drawn only.
    const half = (scale * Number(LEAST)) / Number(epsilon) / 2 ** (refinement + 1);
    return [{ epsilon: justBelow(epsilon), radius: Math.min(radius + half, all[at - 1].radius), edge: false }, point];
  });
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
