// The parts of d3 that charts use. Its files are as npm has them (manifest.json); each adds its names to one global.

import "./d3-array.min.js";
import "./d3-color.min.js";
import "./d3-format.min.js";
import "./d3-interpolate.min.js";
import "./d3-time.min.js";
import "./d3-time-format.min.js";
import "./d3-scale.min.js";
import "./d3-path.min.js";
import "./d3-shape.min.js";

export const { area, curveLinear, curveStepAfter, line, scaleLinear, scaleLog, scaleTime, scaleUtc } =
  /** @type {any} */ (globalThis).d3;
