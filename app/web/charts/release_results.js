// Shows a release: what was asked, the value with its interval, what it means, and what it cost.

import { path } from "../api.js";
import { sourceOf } from "../figures/answer_source.js";
import { proposeTitle } from "../figures/names.js";
import { facts, h, longList, notice, table } from "../ui/dom.js";
import { binnedColumns, bound, confidence, date, number, statistic, time, withUnit } from "../ui/format.js";
import { endsText, errorText, measured, percent, tickText } from "../ui/rounding.js";
import { asYear, isYear } from "../ui/years.js";
import { chart, draw } from "./charts.js";
import { histogram } from "./histogram.js";
import { axisLabels, kindOf, labelsOf, measureOf, placesOf, textsOf, titleOf } from "./labels.js";
import { rangePicture } from "./range.js";
import { answerCard, asRehearsal, markRows, REHEARSAL } from "./rehearsal.js";
import { ends, rowChart } from "./rows.js";
import { shareButtons } from "./share.js";
import { twoWay } from "./two_way.js";

/** @typedef {any} Release a release as the API answers */

const ROWS = 20; // lines of a chart at first
const WIDE = 0.5; // of the public range: an interval that is wider says little

/** Return the service's summary and, for several numbers, the radius that holds for all at once. */
export function meaning(/** @type {Release} */ release) {
  const together = release.accuracy.simultaneous_radius;
  return together === undefined
    ? release.summary
    : `${release.summary} All at once are within ${errorText(together)} of the truth.`;
}

/** Return what an interval is worth beside the range that the statistic has in any table. */
export function worth(/** @type {number} */ width, /** @type {number} */ range) {
  const part = width / range;
  if (part >= WIDE) {
    return notice(
      "warn",
      `The interval covers ${percent(Math.min(1, part))} of the range that is possible for any table: it says little. ` +
        "Ask for a smaller accuracy, or a larger ε.",
    );
  }
  return h(
    "p",
    { class: "muted" },
    `The interval covers ${percent(part)} of the range that is possible for any table.`,
  );
}

/** Return whether the numbers of a release count rows. */
const counts = (/** @type {Release} */ { statistic: { kind } }) => ["count", "histogram", "missing"].includes(kind);

/** Return the picture of one number in the range that the mechanism knows: its centre and half its width are public. */
function scalar(/** @type {Release} */ release) {
  const {
    value_in_range: value,
    value_as_date: day,
    unit,
    accuracy: { radius, interval, interval_as_date: days },
    mechanism: { centre, b_prime: half },
  } = release;
  const range = /** @type {[number, number]} */ ([centre - half, centre + half]);
  const year = isYear(release.statistic, release.columns);
  const { error, ...texts } = measured(value, radius);
  const shown = asYear(texts.value, year);
  const [from, to] = days
    ? days.map(date)
    : endsText(interval, { whole: counts(release) }).map((end) => asYear(end, year));
  const around = withUnit(`${from} to ${to}`, unit && !days ? unit : undefined);
  const bounds = release.statistic.bounds ?? [];
  const possible = /** @type {[string, string]} */ (
    days
      ? bounds.length === 2
        ? bounds.map(date)
        : ["", ""]
      : range.map((end) => withUnit(asYear(tickText(end), year), unit))
  );
  const picture = chart(
    `${day ? date(day) : withUnit(shown, unit)}, in the interval ${around}; possible is ${possible.join(" to ")}`,
  );
  draw(picture, rangePicture({ range, interval, value, ends: possible, text: around }));
  return {
    picture,
    content: [
      h("p", { class: "value" }, day ? date(day) : shown, !day && h("span", {}, ` ± ${withUnit(error, unit)}`)),
      picture,
      worth(interval[1] - interval[0], 2 * half),
    ],
  };
}

/** Return a number of a release and its error as texts, with the unit. */
export function measuredRelease(/** @type {Release} */ release, at = 0) {
  const {
    value_in_range: values,
    accuracy: { radius },
    unit,
  } = release;
  const { value, error } = measured([values].flat()[at], radius);
  return { value: asYear(value, isYear(release.statistic, release.columns)), error: withUnit(error, unit) };
}

const textOf = (/** @type {Release} */ release, /** @type {number} */ at) => {
  const { value, error } = measuredRelease(release, at);
  return `${value} ± ${error}`;
};

/** Return the picture of a release with one number for each bin or group. */
function several(/** @type {Release} */ release) {
  const labels = labelsOf(release);
  const places = placesOf(release);
  const [name] = binnedColumns(release.statistic);
  const each = labels.map((label, at) => {
    const [low, high] = release.accuracy.interval[at];
    return { label, value: release.value_in_range[at], low, high, text: textOf(release, at) };
  });
  const one = release.statistic.group_by === undefined ? "bin" : "group";
  const summary = `${measureOf(release)} of ${labels.length} ${one}s of ${titleOf(release, name)}; the table below has the figures`;
  const figures = h(
    "details",
    { open: labels.length <= 12 },
    h("summary", {}, `Every ${one} as a table`),
    longList({
      items: each,
      noun: one,
      textOf: ({ label }) => label,
      render: (shown) =>
        table(
          "With their intervals",
          [one === "bin" ? "Bin" : "Group", measureOf(release), "Interval"],
          shown.map(({ label, value, low, high }) => [
            label,
            counts(release) ? number(value) : measured(value, release.accuracy.radius).value,
            endsText([low, high], { whole: counts(release) }).join(" to "),
          ]),
          [1, 2],
        ),
    }),
  );
  if (places) {
    const picture = chart(summary);
    const told = each.map((bin) => ({ ...bin, text: `${bin.label}: ${bin.text}` }));
    draw(
      picture,
      histogram({
        title: titleOf(release, name),
        measure: measureOf(release),
        kind: kindOf(release),
        bins: told.flatMap((bin, at) => (places[at] ? [{ ...bin, from: places[at][0], to: places[at][1] }] : [])),
        beside: told.filter((_, at) => !places[at]),
      }),
    );
    return { picture, content: [picture, figures] };
  }
  return { ...listed(each, one, "bar", measureOf(release), summary), figures };
}

/**
 * Return the chart of rows, at first some of them, with a search box and "Show more".
 * @param {import("./rows.js").Row[]} rows
 * @param {string} noun
 * @param {"bar" | "dot"} mark
 * @param {string} title
 * @param {string} summary
 * @param {"linear" | "year"} [kind]
 */
export function listed(rows, noun, mark, title, summary, kind) {
  const picture = chart(summary);
  const domain = ends(rows, mark === "bar"); // of all rows, so that it stays when some are shown
  const content = longList({
    items: rows,
    noun,
    textOf: ({ label }) => label,
    step: ROWS,
    render: (shown) => {
      draw(picture, rowChart({ rows: shown, mark, title, domain, kind }));
      return picture;
    },
  });
  return { picture, content: [content] };
}

/** Return the exact figures of a release, with their headings. */
function csvRows(/** @type {Release} */ release) {
  const {
    value_in_range: value,
    accuracy: { interval },
  } = release;
  if (!Array.isArray(value))
    return [
      ["statistic", "value", "lower", "upper", "unit"],
      [statistic(release.statistic), value, ...interval, release.unit ?? ""],
    ];
  if (!release.axes)
    return [
      [binnedColumns(release.statistic)[0], "value", "lower", "upper"],
      ...labelsOf(release).map((label, at) => [label, value[at], ...interval[at]]),
    ];
  const [rows, columns] = release.axes.map((/** @type {any} */ axis, /** @type {number} */ at) =>
    axisLabels(axis, (axis.bins ?? axis.edges).length, textsOf(release, release.statistic.columns[at])),
  );
  return [
    [...release.statistic.columns, "value", "lower", "upper"],
    ...rows.flatMap((/** @type {string} */ row, /** @type {number} */ down) =>
      columns.map((/** @type {string} */ column, /** @type {number} */ across) => {
        const at = down * columns.length + across;
        return [row, column, value[at], ...interval[at]];
      }),
    ),
  ];
}

/** Return a sentence that names what was asked, of what, how exact it is, and where it can be found. */
function citation(/** @type {Release} */ release) {
  const found = Array.isArray(release.value)
    ? `${release.value.length} values, each ± ${errorText(release.accuracy.radius)}`
    : release.value_as_date
      ? date(release.value_as_date)
      : textOf(release, 0);
  const about = `${statistic(release.statistic)} of the dataset “${release.dataset}”: ${found} (${confidence(release.accuracy.alpha)} confidence over the noise)`;
  if (release.rehearsed) return `${REHEARSAL}, not a release: ${about}; ${location.origin}.`;
  return (
    `${about}, ` +
    `released with ε-differential privacy (ε = ${release.privacy.epsilon}, snapping mechanism) on ${release.created_at.slice(0, 10)}; Snapledger release ${release.id}, ${location.origin}.`
  );
}

/**
 * Return a card with everything about a release. The budget in it is what was left just after it, to whoever paid for
 * it: it is shown only to who has just asked. `publisher` says what the user may publish.
 */
export function result(
  /** @type {Release} */ release,
  /** @type {{ isNew?: boolean, publisher?: import("../figures/publisher.js").Publisher | null }} */ {
    isNew = true,
    publisher = null,
  } = {},
) {
  const { accuracy, budget, mechanism, privacy } = release;
  const many = Array.isArray(release.value);
  const { picture, content, figures } = release.axes
    ? twoWay(release, axisLabels)
    : many
      ? several(release)
      : scalar(release);
  const { rehearsed } = release;
  const name = `${release.dataset}-${release.statistic.kind}-${rehearsed ? "rehearsal" : release.id.slice(0, 8)}`;
  return answerCard(
    release,
    h("h2", { tabindex: "-1" }, statistic(release.statistic)),
    h(
      "p",
      { class: "muted" },
      [release.dataset, `${confidence(accuracy.alpha)} confidence`, `ε ${privacy.epsilon}`].join(" · "),
    ),
    content,
    h("p", {}, meaning(release)),
    shareButtons({
      name,
      picture,
      rows: markRows(csvRows(release), release),
      citation: citation(release),
      address: rehearsed || !isNew ? null : `#${path("datasets", release.dataset, "releases", release.id)}`,
      request: {
        dataset: release.dataset,
        to: "releases",
        body: { statistic: release.statistic, epsilon: privacy.epsilon, ...asRehearsal(release) },
      },
      publication:
        publisher && !rehearsed
          ? {
              dataset: release.dataset,
              source: sourceOf([release]),
              title: proposeTitle(statistic(release.statistic)),
              publisher,
            }
          : null,
    }),
    figures,
    facts([
      ["Charged", `ε ${budget.charged}${release.reused ? " (an earlier release answers)" : ""}`],
      ["Released at", rehearsed ? null : time(release.created_at)],
      ["Left of the dataset's budget", isNew ? `ε ${budget.dataset_remaining}` : null],
      [
        "Left of your allowance",
        !isNew || budget.allowance_remaining === null ? null : `ε ${budget.allowance_remaining}`,
      ],
      [rehearsed ? "A release would cost up to" : "Paid for the first time", `ε ${privacy.epsilon}`],
    ]),
    h(
      "details",
      {},
      h("summary", {}, "How it was drawn"),
      facts([
        ["Id", h("code", {}, release.id)],
        ["Exact value", many ? null : h("code", {}, release.value_exact)],
        ["Radius", withUnit(bound(accuracy.radius), release.unit)],
        ["Tight radius", withUnit(bound(accuracy.tight_radius), release.unit)],
        ["Confidence", confidence(accuracy.alpha)],
        ["γ", number(mechanism.gamma)],
        ["Sensitivity", number(mechanism.sensitivity)],
        ["Scale", number(mechanism.scale)],
        ["Grid", number(mechanism.grid)],
        ["Grid refinement", String(mechanism.grid_refinement)],
        ["ε a bin", mechanism.epsilon_per_bin === undefined ? null : number(mechanism.epsilon_per_bin)],
        [
          "Protects",
          `the values in ${privacy.rows_per_unit === 1 ? "one row" : `${privacy.rows_per_unit} rows`} ` +
            `of ${privacy.n}`,
        ],
      ]),
    ),
  );
}
