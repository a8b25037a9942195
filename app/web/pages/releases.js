// The page of a dataset's earlier releases, newest first, and the page of one release.

import { get, listed, path } from "../api.js";
import { result } from "../charts/release_results.js";
import { h, table } from "../ui/dom.js";
import { bound, date, number, statistic, time } from "../ui/format.js";

const told = (release) =>
  Array.isArray(release.value)
    ? `${number(release.value.length)} bins`
    : release.value_as_date
      ? date(release.value_as_date)
      : number(release.value_in_range);

export async function releases(name) {
  const { items, complete } = await listed(`${path("datasets", name)}/releases`, "releases", 100);
  if (items.length === 0) return h("p", {}, "There are no releases yet.");
  const rows = items
    .toReversed()
    .map((release) => [
      h("a", { href: `#${path("datasets", name, "releases", release.id)}` }, statistic(release.statistic)),
      told(release),
      `± ${bound(release.accuracy.radius)}`,
      release.privacy.epsilon,
      time(release.created_at),
    ]);
  return [
    !complete && h("p", { class: "notice" }, "Only the earliest releases are shown: there are too many to load."),
    table(
      "Earlier releases; asking for one again costs nothing",
      ["Statistic", "Value", "Radius", "ε", "Released at"],
      rows,
      [1, 2, 3],
    ),
  ];
}

export const oneRelease = async (id) => result(await get(path("releases", id)));
