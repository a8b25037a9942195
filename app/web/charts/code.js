// The same question as a program: Python with our client, R with httr2, and curl. Asked again, it is answered from
// what is released already, at no cost.

/** @typedef {{ dataset: string, to: "releases" | "derived", body: Record<string, any> }} Request */

const INDENT = "  ";

/** Return JSON as a literal of another language; `words` are its true, false and null, `open` and `pair` its maps. */
function literal(
  /** @type {any} */ value,
  /** @type {{ words: Record<string, string>, list: [string, string], map: [string, string], pair: (name: string, text: string) => string }} */ language,
) {
  const { words, list, map, pair } = language;
  const inner = (/** @type {any} */ each) => literal(each, language);
  if (value === null || typeof value === "boolean") return words[String(value)];
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `${list[0]}${value.map(inner).join(", ")}${list[1]}`;
  return `${map[0]}${Object.entries(value)
    .map(([name, each]) => pair(name, inner(each)))
    .join(", ")}${map[1]}`;
}

const PYTHON = {
  words: { true: "True", false: "False", null: "None" },
  list: /** @type {[string, string]} */ (["[", "]"]),
  map: /** @type {[string, string]} */ (["{", "}"]),
  pair: (/** @type {string} */ name, /** @type {string} */ text) => `${JSON.stringify(name)}: ${text}`,
};
const R = {
  words: { true: "TRUE", false: "FALSE", null: "NULL" },
  list: /** @type {[string, string]} */ (["list(", ")"]),
  map: /** @type {[string, string]} */ (["list(", ")"]),
  pair: (/** @type {string} */ name, /** @type {string} */ text) =>
    `${/^[a-z][a-z0-9_.]*$/i.test(name) ? name : `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``} = ${text}`,
};

/** Return the program in Python. */
export function python(/** @type {Request} */ { dataset, to, body }, /** @type {string} */ origin) {
  const { statistic, derived, rehearse, ...options } = body;
  const call = to === "releases" ? "release" : "derive";
  const given = Object.entries(options)
    .map(([name, value]) => `, ${name}=${literal(value, PYTHON)}`)
    .join("");
  return [
    "from snapledger_client import Client",
    "",
    `client = Client(${JSON.stringify(origin)})  # the key is in SNAPLEDGER_KEY`,
    `dataset = client.dataset(${JSON.stringify(dataset)})${rehearse ? ".rehearse()" : ""}`,
    `answer = dataset.${call}(${literal(statistic ?? derived, PYTHON)}${given})`,
    "print(answer)",
    "",
  ].join("\n");
}

/** Return the program in R. */
export function r(/** @type {Request} */ { dataset, to, body }, /** @type {string} */ origin) {
  return [
    "library(httr2)",
    "",
    `answer <- request(${JSON.stringify(`${origin}/v1/datasets/${encodeURIComponent(dataset)}/${to}`)}) |>`,
    `${INDENT}req_auth_bearer_token(Sys.getenv("SNAPLEDGER_KEY")) |>`,
    `${INDENT}req_headers("Idempotency-Key" = ${JSON.stringify(idempotencyKey())}) |>`,
    `${INDENT}req_body_json(${literal(body, R)}) |>`,
    `${INDENT}req_perform() |>`,
    `${INDENT}resp_body_json()`,
    "str(answer)",
    "",
  ].join("\n");
}

const shellText = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Return the command of curl. */
export function curl(/** @type {Request} */ { dataset, to, body }, /** @type {string} */ origin) {
  return [
    `curl ${shellText(`${origin}/v1/datasets/${encodeURIComponent(dataset)}/${to}`)} \\`,
    `${INDENT}-H "Authorization: Bearer $SNAPLEDGER_KEY" -H 'Content-Type: application/json' \\`,
    `${INDENT}-H 'Idempotency-Key: ${idempotencyKey()}' \\`,
    `${INDENT}-d ${shellText(JSON.stringify(body))}`,
    "",
  ].join("\n");
}

/** Return a new key, so that sending the same program twice pays once. */
const idempotencyKey = () =>
  [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
