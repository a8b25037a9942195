// The settings of one column of a question: its bounds, or the intervals that its values are counted in.

import { numeric, PERIODS, temporal, text, typed, valueInput } from "../../ui/controls.js";
import { field, fill, h, select } from "../../ui/dom.js";
import { number, withUnit } from "../../ui/format.js";
import { asYear, holdsYears } from "../../ui/years.js";
import * as checks from "./checks.js";
import { toNumber } from "./suppositions.js";
import { watched } from "./watched.js";

const NOTHING = { element: null, bounds: () => null, bins: () => ({}), problem: () => null, show: () => {} };

function boundsPart(declared) {
  const [lower, upper] = (declared.bounds ?? ["", ""]).map((bound) =>
    valueInput(declared, String(bound).replace(/Z$/, "")),
  );
  const check = checks.bounds((value) => (value.trim() === "" ? NaN : toNumber(value.trim(), declared)));
  const { problem, show } = watched([lower, upper], () => check(lower.value, upper.value));
  return {
    element: h("div", { class: "pair" }, field("Lower", lower), field("Upper", upper)),
    problem,
    show,
    body: () => [lower.value.trim(), upper.value.trim()],
  };
}

/** Return a fold that is closed until somebody wants to change what its summary says. */
function fold(summary, content, changed) {
  const title = h("summary", {}, summary());
  return h(
    "details",
    {
      class: "setting",
      input: () => {
        title.textContent = summary();
        changed();
      },
    },
    title,
    content,
  );
}

const told = (bounds, name, { unit, kind }) =>
  withUnit(
    bounds
      .map((bound) =>
        temporal({ kind }) || !checks.isDecimal(bound)
          ? bound.replace("T", " ")
          : asYear(number(Number(bound)), holdsYears(name, { unit }, bounds)),
      )
      .join(" to "),
    unit,
  );

/** Return the setting of the bounds of a column that something is computed of. */
export function boundsSetting(name, declared, changed) {
  if (!numeric(declared)) return NOTHING;
  const part = boundsPart(declared);
  const element = fold(
    () => `Bounds of ${name}: ${told(part.body(), name, declared)}`,
    [
      h(
        "p",
        { class: "muted" },
        "Values outside the bounds count as the nearer bound. Closer bounds make the answer more precise.",
      ),
      part.element,
    ],
    changed,
  );
  return { element, bounds: part.body, bins: () => ({}), problem: part.problem, show: part.show };
}

/** Return the setting of the intervals that a column is counted in; a category column has its categories. */
export function binsSetting(name, declared, changed, usual = "10") {
  if (!numeric(declared)) return NOTHING;
  const periods = temporal(declared) ? PERIODS.map((period) => [period, `each ${period.replace("iso_", "ISO ")}`]) : [];
  const by = select(
    [...periods, ["bins", "of equal width"], ["edges", "with my own edges"]],
    temporal(declared) ? "month" : "bins",
    { change: build },
  );
  const count = text({ value: usual, inputmode: "numeric" });
  const edges = text({ inputmode: "text" });
  const part = boundsPart(declared);
  const parts = h("div");
  const ofCount = watched([count], () => checks.aBinCount(count.value));
  const ofEdges = watched([edges], () => checks.edges((value) => toNumber(value, declared))(edges.value));
  const used = () => (by.value === "edges" ? [ofEdges] : by.value === "bins" ? [ofCount, part] : [part]);
  function build() {
    if (by.value === "edges") fill(parts, field("Edges", edges, "In ascending order, separated by commas."));
    else fill(parts, by.value === "bins" && field("How many", count), part.element);
  }
  const summary = () =>
    by.value === "edges"
      ? `Intervals of ${name}: with your own edges`
      : by.value === "bins"
        ? `Intervals of ${name}: ${count.value} from ${told(part.body(), name, declared)}`
        : `Intervals of ${name}: each ${by.value.replace("iso_", "ISO ")} from ${told(part.body(), name, declared)}`;
  build();
  return {
    element: fold(summary, [field("Intervals", by), parts], changed),
    bounds: () => null,
    bins: () =>
      by.value === "edges"
        ? { edges: typed(edges) }
        : { bins: by.value === "bins" ? count.value.trim() : by.value, bounds: part.body() },
    problem: () =>
      used()
        .map(({ problem }) => problem())
        .find((message) => message !== null) ?? null,
    show: (message) => used().at(-1)?.show(message),
  };
}
