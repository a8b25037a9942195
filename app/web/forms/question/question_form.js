// A question as a sentence with choices: what of which columns, for whom, and how missing values count.

import { numeric, PERIODS, temporal } from "../../ui/controls.js";
import { field, fill, h, select } from "../../ui/dom.js";
import * as checks from "./checks.js";
import { binsSetting, boundsSetting } from "./column_settings.js";
import { categoryText } from "./conditions.js";
import { filterChips } from "./filter_chips.js";
import { choice, word } from "./pills.js";
import { fromPercent, missingChoice, possibleWants, takesFilter, wantOf } from "./questions.js";
import { watched } from "./watched.js";

const NO_COLUMN = "";
const QUANTILE_BINS = "100"; // a median is then known to a hundredth of the range

/** Return a function that names a column as the owner calls it, if no other column is called so. */
export function columnNames(columns) {
  const labels = Object.values(columns).map(({ label }) => label);
  return (name) => {
    const { label } = columns[name];
    return label && labels.filter((each) => each === label).length === 1 && !Object.hasOwn(columns, label)
      ? label
      : name;
  };
}

/** Return the choices of what a question is asked for each of: `[value, text, group]`. */
function groupsOf(columns, named) {
  const names = Object.keys(columns);
  return [
    ["", "all rows", null],
    ...names.filter((name) => columns[name].kind === "category").map((name) => [name, `each ${named(name)}`, name]),
    ...names
      .filter((name) => temporal(columns[name]))
      .flatMap((column) =>
        PERIODS.map((bins) => [
          `${bins} of ${column}`,
          `each ${bins.replace("iso_", "")} of ${named(column)}`,
          { column, bins },
        ]),
      ),
  ];
}

function weightsOf(columns, named) {
  const names = Object.keys(columns).filter(
    (name) => numeric(columns[name]) && !temporal(columns[name]) && Number(columns[name].bounds[0]) >= 0,
  );
  return [["", "each row alike"], ...names.map((name) => [name, `weighted by ${named(name)}`])];
}

/** Return the possible wants as groups of choices. */
function wantChoices(columns) {
  const groups = new Map();
  for (const { kind, want, text } of possibleWants(columns))
    groups.set(kind, [...(groups.get(kind) ?? []), [want, text]]);
  return [...groups].map(([label, options]) => ({ label, options }));
}

/**
 * Return the form of a question about a dataset. `changed` runs at every change, and `renewed` before it where another
 * statistic or column is chosen. `question()` returns it, as `questions.js` describes; `problem()` what
 * is wrong with it, in words, or null, and `pending()` what is still being written.
 */
export function questionForm({ columns }, changed, renewed) {
  const named = columnNames(columns);
  const groups = groupsOf(columns, named);
  const weights = weightsOf(columns, named);
  const want = choice("What you want to know", wantChoices(columns), possibleWants(columns)[0].want, rebuild);
  const group = choice("For each", groups, "", changed);
  const weight = select(weights, "", { change: changed });
  const weighting = field("Weight", weight, "Weight each row by a column whose bounds are at least 0.");
  const missing = choice(
    "Missing values",
    [
      ["exclude", "left out"],
      ["", "counted as the owner declared"],
    ],
    "exclude",
    changed,
  );
  const filter = filterChips(columns, named, changed);
  const percentages = word("Percentages", "50", changed, { inputmode: "text" });
  const subject = h("span");
  const settings = h("div");
  const about = h("p", { class: "missing-choice" });
  const unfiltered = h(
    "p",
    { class: "muted", hidden: true },
    "The filter does not apply: a share of one category is of all rows, or of each group's.",
  );
  /** @type {any[]} */
  let chosen = []; // the controls of the columns
  /** @type {any} */
  let category = null;
  /** @type {any} */
  let margin = null;
  let parts = [];
  const ofPercentages = watched([percentages.control], () => checks.probabilities(percentages.control.value));

  function columnChoices({ of, optional }) {
    const names = of(columns).map((name) => [name, named(name)]);
    return optional ? [[NO_COLUMN, "rows that meet the filter"], ...names] : names;
  }
  /** Return a choice of a column that begins with what was chosen before, if that is possible and not `taken`. */
  function columnChoice(label, spec, before, taken) {
    const options = columnChoices(spec);
    const free = options.map(([value]) => value).filter((value) => !taken.includes(value));
    const usual = free.find((value) => value !== NO_COLUMN) ?? NO_COLUMN;
    return choice(label, options, free.includes(before) ? before : usual, rebuildColumns);
  }
  /** Build the sentence again: what is wanted is another statistic. */
  function rebuild() {
    const spec = wantOf(want.control.value);
    const labels =
      spec.columns === 2 ? ["First column", "Second column"] : [spec.want === "proportion" ? "Share of" : "Column"];
    const before = chosen.map(({ control }) => control.value);
    chosen = [];
    for (const [at, label] of labels.slice(0, spec.columns).entries()) {
      const taken = chosen.map(({ control }) => control.value);
      chosen.push(columnChoice(label, spec, before[at], taken));
    }
    margin =
      spec.want === "margin"
        ? choice(
            "Counts of",
            [
              ["0", "the first column"],
              ["1", "the second column"],
            ],
            "0",
            changed,
          )
        : null;
    rebuildColumns();
  }
  function rebuildColumns() {
    const spec = wantOf(want.control.value);
    const names = chosen.map(({ control }) => control.value);
    const declared = columns[names[0]];
    category =
      spec.want === "proportion" && declared?.kind === "category"
        ? choice(
            "Category",
            declared.categories.map((each) => [each, categoryText(each, declared)]),
            declared.categories[0],
            changed,
          )
        : null;
    parts = names
      .filter((name) => name !== NO_COLUMN)
      .map((name) =>
        spec.parts.includes("bins")
          ? binsSetting(name, columns[name], changed, spec.want === "quantile" ? QUANTILE_BINS : "10")
          : spec.parts.includes("bounds")
            ? boundsSetting(name, columns[name], changed)
            : binsSetting(name, {}, changed),
      );
    renewed();
    fill(
      subject,
      sentence(
        spec,
        chosen.map(({ element }) => element),
        declared,
      ),
    );
    fill(
      settings,
      parts.map(({ element }) => element),
    );
    changed();
  }
  function sentence({ want: wanted, parts: has }, /** @type {any[]} */ [first, second], declared) {
    const middle =
      wanted === "proportion"
        ? [
            " of ",
            first,
            category && [" that are ", category.element],
            declared?.kind === "boolean" && " that are true",
          ]
        : wanted === "missing" || wanted === "cumulative"
          ? [": ", first]
          : wanted === "histogram"
            ? [": ", first]
            : wanted === "regression"
              ? [" by which ", first, " predicts ", second]
              : wanted === "margin"
                ? [" of ", first, " and ", second, ": ", margin.element]
                : second
                  ? [" of ", first, " and ", second]
                  : first
                    ? [" of ", first]
                    : [];
    return [
      middle,
      wanted === "quantile" && [" at ", percentages.element, " %"],
      has.includes("group") && groups.length > 1 && [", for ", group.element],
    ];
  }
  function question() {
    const spec = wantOf(want.control.value);
    const has = (part) => spec.parts.includes(part);
    const names = chosen.map(({ control }) => control.value).filter((name) => name !== NO_COLUMN);
    return {
      want: spec.want,
      columns: names,
      bounds: parts.map((part) => part.bounds()),
      bins: parts.map((part) => part.bins()),
      group: has("group") && groups.length > 1 ? groups.find(([value]) => value === group.control.value)?.[2] : null,
      weight: has("weight") && weight.value ? weight.value : null,
      where: filter.where(),
      exclude: missing.control.value === "exclude",
      category: category?.control.value ?? null,
      probabilities: percentages.control.value
        .split(",")
        .map((each) => each.trim())
        .filter(Boolean)
        .map(fromPercent),
      margin: Number(margin?.control.value ?? 0),
    };
  }
  /** Show what depends on the whole question: the choice of missing values, and whether the filter applies. */
  function refresh() {
    const asked = question();
    const may = missingChoice(asked, columns);
    const open = [...asked.columns, ...(asked.weight ? [asked.weight] : [])].filter(
      (name) => columns[name].nullable !== false,
    );
    about.hidden = !may;
    weighting.hidden = weights.length < 2 || asked.want !== "mean";
    fill(
      about,
      may && [`Some values of ${open.map(named).join(" and ")} may be missing. They are `, missing.element, "."],
    );
    unfiltered.hidden = takesFilter(asked) || Object.keys(asked.where).length === 0;
  }
  function problem() {
    const asked = question();
    const { want: wanted, columns: names, where, group: by } = asked;
    const some = Object.keys(where).length > 0;
    if (wanted === "count" && !some && by === null)
      return "The number of all rows is public: choose a filter or groups.";
    if (wanted === "proportion" && names.length === 0 && !some)
      return "Choose a filter: the share is of the rows that meet it.";
    if (wanted === "proportion" && names.length === 0 && by !== null)
      return "For each group, choose a column that the share is of.";
    if (names.length === 2 && names[0] === names[1]) return "Choose two different columns.";
    if (asked.weight !== null && asked.weight === names[0])
      return "Weight the rows by another column than the one of the mean.";
    if (wanted === "quantile") {
      const wrong = ofPercentages.problem();
      if (wrong) return wrong;
    }
    return parts.map((part) => part.problem()).find((message) => message !== null) ?? null;
  }
  /** Show what the service says about a part of the question; return whether there is a field for it. */
  function show(where, what) {
    if (/\.(bounds|edges|bins)/.test(where) && parts.length > 0) parts.at(/\.1$/.test(where) ? -1 : 0).show(what);
    else if (/\.where\./.test(where)) filter.show(Number(/\.where\.(\d+)/.exec(where)?.[1] ?? 0), what);
    else if (/\.probabilities/.test(where)) ofPercentages.show(what);
    else return false;
    return true;
  }
  rebuild();
  return {
    sentence: ["I want to know ", want.element, subject],
    below: [filter.element, unfiltered, settings],
    about,
    weighting,
    question,
    problem,
    pending: filter.problem,
    refresh,
    show,
    named,
  };
}
