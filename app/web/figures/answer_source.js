// What a figure of releases is published from: their ids, and what was asked where an earlier release answered.

/** @typedef {{ id: string, reused: boolean, statistic: any, accuracy: { alpha: number } }} Answer a release as it answered */

/** Return the source of a figure that shows answers as they were given: an earlier sum may have answered for a mean. */
export function sourceOf(/** @type {Answer[]} */ answers) {
  const releases = answers.map(({ id }) => id);
  if (!answers.some(({ reused }) => reused)) return { releases };
  return {
    releases,
    answers: answers.map(({ id, reused, statistic, accuracy: { alpha } }) => ({
      release: id,
      ...(reused && { statistic, alpha }),
    })),
  };
}
