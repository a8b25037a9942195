// The radius against ε for one statistic: the curve of a free plan, with both sides of every cliff.

import { call, path } from "../api.js";

const POINTS = 100;
const MIN_EPSILON = "0.001";
const MAX_EPSILON = "1000";
const NANO = 9;

const pause = (seconds) =>
  new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });

/** Return the ε that is one ledger unit (10⁻⁹) smaller. It computes with integers, since a double is not exact. */
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
      await pause(error.retryAfter); // plans are free, but rate-limited
    }
  }
}

/** Return a plan with its curve up to `to`, or up to the maximum ε of one release if that is less. */
async function upTo(to, dataset, body, signal) {
  try {
    return await planned(
      dataset,
      { ...body, epsilon: MIN_EPSILON, curve: { from: MIN_EPSILON, to, points: POINTS } },
      signal,
    );
  } catch (error) {
    if (error.type !== "/problems/epsilon-too-large" || error.limit === to) throw error;
    return upTo(error.limit, dataset, body, signal);
  }
}

/** Return the points of the curve by ascending ε, each `{epsilon, radius, edge}`; `edge` marks the ε of a cliff. */
export async function curve(dataset, statistic, options, signal) {
  const plan = await upTo(MAX_EPSILON, dataset, { statistic, ...options }, signal);
  const { accuracy, mechanism } = plan;
  const noise = Math.log(1 / accuracy.alpha) * mechanism.scale * Number(MIN_EPSILON); // its part of the radius at ε = 1
  return plan.curve.flatMap(({ epsilon, radius, cliff }, at, all) => {
    const point = { epsilon, radius, edge: cliff };
    if (!cliff || at === 0) return [point];
    // Between two cliffs, only the noise's part of the radius changes. This is only for drawing.
    const before = all[at - 1];
    const below = before.radius + noise / Number(epsilon) - noise / Number(before.epsilon);
    return [{ epsilon: justBelow(epsilon), radius: Math.max(radius, below), edge: false }, point];
  });
}

/** Return the radius of the curve at an ε between its points, by linear interpolation. */
export function radiusAt(points, epsilon) {
  const above = points.findIndex((point) => Number(point.epsilon) >= epsilon);
  if (above < 0) return points.at(-1).radius;
  if (above === 0) return points[0].radius;
  const [one, other] = [points[above - 1], points[above]];
  const [from, to] = [Number(one.epsilon), Number(other.epsilon)];
  return one.radius + ((other.radius - one.radius) * (epsilon - from)) / (to - from);
}
