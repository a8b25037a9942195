// Uploads, plans and releases with the client that hey-api makes.

import { createClient } from "./client/client/index.js";
import { createDerivedStatistic, createRelease, planRelease, uploadDataset } from "./client/index.js";
import type { Release, ReleaseRequest, Statistic } from "./client/index.js";

const { SNAPLEDGER_URL, SNAPLEDGER_KEY, SNAPLEDGER_OWNER_KEY, SNAPLEDGER_DATASET } = process.env;
const client = createClient({ baseUrl: SNAPLEDGER_URL ?? "", auth: SNAPLEDGER_KEY });
const owner = createClient({ baseUrl: SNAPLEDGER_URL ?? "", auth: SNAPLEDGER_OWNER_KEY });
const path = { name: SNAPLEDGER_DATASET ?? "" };

async function release(body: ReleaseRequest, key?: string): Promise<Release> {
  const headers = key === undefined ? {} : { "Idempotency-Key": key };
  const answer = await createRelease({ client, path, body, headers });
  if (answer.data === undefined) throw new Error(answer.error.title);
  return answer.data;
}

const rows = Array.from({ length: 100 }, (_, i) => `${i}\n`).join("");
const uploaded = await uploadDataset({
  client: owner,
  body: {
    metadata: { name: "uploaded-by-hey-api", epsilon_limit: "1", columns: { x: { kind: "integer", bounds: [0, 100] } } },
    file: new File([`x\n${rows}`], "copy.csv"),
  },
});
if (uploaded.data?.n !== 100) throw new Error(uploaded.error?.title);

const mean: Statistic = { kind: "mean", column: "x" };
const histogram: Statistic = { kind: "histogram", column: "x", bins: 4, where: { x: { at_least: 10 } } };
const plan = await planRelease({ client, path, body: { statistic: mean, accuracy: 5 } });
const releases = [
  await release({ statistic: mean, epsilon: "0.5" }, "hey-api"),
  await release({ statistic: mean, epsilon: "0.5" }, "hey-api"),
  await release({ statistic: histogram, epsilon: "0.25" }),
];
const { statistic } = releases[2] as Release;
releases.push(await release({ statistic, epsilon: 0.25 }));
const derived = await createDerivedStatistic({
  client,
  path,
  body: { derived: { kind: "standard_deviation", column: "x" }, epsilon: "0.25" },
});
const refused = await createRelease({ client, path, body: { statistic: mean, epsilon: "9.5" } });
let remaining: string | undefined;
if (refused.error?.type === "/problems/budget-exhausted") remaining = refused.error.remaining;

console.log(
  JSON.stringify({
    planned: plan.data?.privacy.epsilon,
    releases: releases.map(({ id, value }) => [id, value]),
    derived: derived.data?.estimates["standard_deviation"]?.value,
    remaining,
  }),
);
