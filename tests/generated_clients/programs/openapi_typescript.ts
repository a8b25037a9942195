// Plans and releases with openapi-fetch and the types that openapi-typescript makes.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const { SNAPLEDGER_URL, SNAPLEDGER_KEY, SNAPLEDGER_DATASET } = process.env;
const client = createClient<paths>({
  baseUrl: SNAPLEDGER_URL ?? "",
  headers: { Authorization: `Bearer ${SNAPLEDGER_KEY}` },
});
const params = { path: { name: SNAPLEDGER_DATASET ?? "" } };

type Schemas = components["schemas"];
type Release = Schemas["Release"];

async function release(body: Schemas["ReleaseRequest"], key?: string): Promise<Release> {
  const header = key === undefined ? {} : { "Idempotency-Key": key };
  const answer = await client.POST("/v1/datasets/{name}/releases", { params: { ...params, header }, body });
  if (answer.data === undefined) throw new Error(answer.error.title);
  return answer.data;
}

const mean: Schemas["Statistic"] = { kind: "mean", column: "x" };
const histogram: Schemas["Statistic"] = { kind: "histogram", column: "x", bins: 4, where: { x: { at_least: 10 } } };
const plan = await client.POST("/v1/datasets/{name}/plan", { params, body: { statistic: mean, accuracy: 5 } });
const releases = [
  await release({ statistic: mean, epsilon: "0.5" }, "openapi-typescript"),
  await release({ statistic: mean, epsilon: "0.5" }, "openapi-typescript"),
  await release({ statistic: histogram, epsilon: "0.25" }),
];
const { statistic } = releases[2] as Release;
if (statistic.kind === "histogram" && statistic.column !== "x") throw new Error("another column");
releases.push(await release({ statistic, epsilon: 0.25 }));
const derived = await client.POST("/v1/datasets/{name}/derived", {
  params,
  body: { derived: { kind: "standard_deviation", column: "x" }, epsilon: "0.25" },
});
const refused = await client.POST("/v1/datasets/{name}/releases", { params, body: { statistic: mean, epsilon: "9.5" } });
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
