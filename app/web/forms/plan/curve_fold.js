// The radius against ε, under a fold: the curve is planned when somebody opens it. Only releases have one.

import { chart, draw } from "../../charts/charts.js";
import { curve, radiusAt } from "../../charts/curve.js";
import { lines } from "../../charts/lines.js";
import { cancelPrevious, debounce } from "../../ui/debounce.js";
import { field, fill, h } from "../../ui/dom.js";
import { bound, decimal, withUnit } from "../../ui/format.js";
import { fromNano, spendable } from "./planned_answer.js";

const STEPS = 1000;
const SETTLE_MS = 400;

function figure(points, { epsilon, radius, unit, plan: { budget } }) {
  const place = (list) => list.map((point) => [Number(point.epsilon), point.radius]);
  const remains = Number(fromNano(spendable(budget)));
  const within = points.filter((point) => Number(point.epsilon) <= remains);
  const beyond = points.slice(Math.max(0, within.length - 1)); // from the last affordable point, so the lines touch
  /** @type {import("../../charts/lines.js").Series[]} */
  const series = [
    { name: "covered by your budget", points: place(within), color: "var(--accent)" },
    {
      name: "more than you have left",
      points: beyond.length > 1 ? place(beyond) : [],
      color: "var(--bad)",
      dash: "2 4",
    },
    { name: "cliff", points: place(points.filter(({ edge }) => edge)), color: "var(--muted)", mark: "triangle" },
    { name: "this plan", points: place([{ epsilon, radius }]), color: "var(--bad)", mark: "circle" },
  ];
  return lines({
    x: { kind: "log", title: "ε" },
    y: { kind: "log", title: withUnit("error", unit && `(${unit})`) },
    tip: (at, error) => `ε ${at}: ± ${bound(error)}`,
    series: series.filter(({ points: list = [] }) => list.length > 0),
  });
}

/** Return the fold; `show` gives it a plan, `forget` takes it away, and `take` is called with a chosen ε. */
export function curveFold(name, take) {
  const place = h("div");
  /** @type {any} */
  let shown = null; // { request, found }
  let drawnFor = "";
  let points = [];
  const slider = h("input", {
    type: "range",
    min: 0,
    max: STEPS,
    value: STEPS / 2,
    input: () => {
      said();
      taken();
    },
  });
  const ends = () => [Number(points[0].epsilon), Number(points.at(-1).epsilon)];
  const at = () => {
    const [least, most] = ends();
    return least * (most / least) ** (Number(slider.value) / STEPS);
  };
  const said = () =>
    points.length > 0 &&
    slider.setAttribute("aria-valuetext", `ε ${decimal(at())}, radius ${bound(radiusAt(points, at()))}`);
  const taken = debounce(() => points.length > 0 && take(decimal(at())), SETTLE_MS);
  const picture = chart("The error against ε");
  const along = field("Along the curve", slider, "Left is more private, right is more precise.");

  const sample = cancelPrevious(async (signal) => {
    if (!element.open || shown === null) return;
    const { request, found } = shown;
    const { epsilon: _, accuracy: __, relative_accuracy: ___, guess: ____, statistic, ...options } = request.body;
    const key = JSON.stringify([statistic, options]);
    try {
      if (key !== drawnFor) points = await curve(name, statistic, { ...options, reuse: false }, signal);
      if (signal.aborted) return;
      drawnFor = key;
      const [least, most] = ends();
      if (document.activeElement !== slider)
        slider.value = String(Math.round((STEPS * Math.log(Number(found.epsilon) / least)) / Math.log(most / least)));
      said();
      if (!picture.isConnected) fill(place, along, picture);
      draw(picture, figure(points, found));
    } catch {
      // the plan's own request shows the error
      if (!signal.aborted) fill(place);
    }
  });
  const element = h(
    "details",
    { hidden: true, toggle: sample },
    h("summary", {}, "The error against ε, as a curve"),
    place,
  );
  return {
    element,
    show(request, found) {
      element.hidden = request.to !== "releases";
      shown = element.hidden ? null : { request, found };
      sample();
    },
    forget() {
      shown = null;
    },
  };
}
