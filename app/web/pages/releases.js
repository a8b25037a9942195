// The page of a dataset's earlier releases, newest first, and the page of one release.

import { get, listedNewest, path } from "../api.js";
import { measuredRelease, result } from "../charts/release_results.js";
import { empty, h, longList, table } from "../ui/dom.js";
import { count, date, statistic, time, unitOf, withUnit } from "../ui/format.js";
import { errorText } from "../ui/rounding.js";

/** Return what a release has several numbers of. */
const partsOf = ({ kind, group_by: by }) => (kind === "quantile_search" ? "step" : by === undefined ? "bin" : "group");

const told = (release) =>
  Array.isArray(release.value)
    ? count(release.value.length, partsOf(release.statistic))
    : release.value_as_date
      ? date(release.value_as_date)
      : withUnit(measuredRelease(release).value, release.unit);

/** Return the radius, with its unit, as it is shown beside the value, which it covers even though that is rounded. */
const errorOf = (release) =>
  Array.isArray(release.value) || release.value_as_date
    ? withUnit(errorText(release.accuracy.radius), release.unit ?? unitOf(release.statistic, release.columns))
    : measuredRelease(release).error;

export async function releases(name) {
  const { items, complete } = await listedNewest(`${path("datasets", name)}/releases`, "releases", 100);
  if (items.length === 0)
    return empty(
      "There are no releases yet.",
      "What somebody releases from this dataset is here, for everybody who may see it.",
    );
  const row = (release) => [
    h("a", { href: `#${path("datasets", name, "releases", release.id)}` }, statistic(release.statistic)),
    told(release),
    `± ${errorOf(release)}`,
    release.privacy.epsilon,
    time(release.created_at),
  ];
  return [
    !complete && h("p", { class: "notice" }, "Only the latest releases are shown: there are too many to load."),
    h(
      "section",
      { class: "card" },
      longList({
        items,
        noun: "release",
        textOf: (release) => `${statistic(release.statistic)} ${release.id}`,
        render: (shown) =>
          table(
            "Earlier releases; asking for one again costs nothing",
            ["Statistic", "Value", "Radius", "ε", "Released at"],
            shown.map(row),
            [1, 2, 3],
          ),
      }),
    ),
  ];
}

/** Return the page of one release; `publisher` says what the user may publish. */
export const oneRelease = async (id, publisher) => result(await get(path("releases", id)), { isNew: false, publisher });
