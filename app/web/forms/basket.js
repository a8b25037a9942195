// The questions that are to be released together, kept in the tab, per dataset. A pure module but for the storage.

const KEY = "snapledger.basket";

const all = () => JSON.parse(sessionStorage.getItem(KEY) ?? "{}");

/**
 * Return the questions of a dataset's basket, each `{to, body, told, items, shared}`: `items` are its releases, for a
 * batch, and `shared` is what all releases of a batch have in common.
 */
export const basketOf = (name) => all()[name] ?? [];

function keep(name, questions) {
  const baskets = { ...all(), [name]: questions };
  if (questions.length === 0) delete baskets[name];
  sessionStorage.setItem(KEY, JSON.stringify(baskets));
}

/**
 * Return a question as the basket holds it. A derived statistic is in it as its releases, each for its share of ε: when
 * they are known, it costs nothing.
 */
export function basketQuestion({ to, body }, plan, told) {
  const { statistic, epsilon, accuracy, relative_accuracy, guess, derived: _, guesses: __, ...shared } = body;
  const items =
    to === "derived"
      ? plan.components.map((each) => ({ statistic: each.statistic, epsilon: each.epsilon }))
      : [JSON.parse(JSON.stringify({ statistic, epsilon, accuracy, relative_accuracy, guess }))]; // without absent members
  return { to, body, told, items, shared };
}

/** Return why a question cannot join the others, in words, or null. */
export function refusal(name, { shared, body }) {
  const [first] = basketOf(name);
  if (!shared.reuse)
    return "A basket uses earlier releases: allow reuse under Advanced, or release this question alone.";
  if (basketOf(name).some((each) => JSON.stringify(each.body) === JSON.stringify(body)))
    return "This question is in the basket already.";
  return first && JSON.stringify(first.shared) !== JSON.stringify(shared)
    ? "All questions of a basket have the same confidence, γ and grid: choose those of the first one, or empty the basket."
    : null;
}

export const addToBasket = (name, question) => keep(name, [...basketOf(name), question]);
export const removeFromBasket = (name, at) =>
  keep(
    name,
    basketOf(name).filter((_, other) => other !== at),
  );
export const emptyBasket = (name) => keep(name, []);

/** Return the request of the whole basket. */
export const batchOf = (questions) => ({ items: questions.flatMap(({ items }) => items), ...questions[0].shared });
