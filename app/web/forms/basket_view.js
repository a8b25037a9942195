// The basket on the page: its questions with one price, released with one confirmation.

import { call, path } from "../api.js";
import { publisherOf } from "../figures/publisher.js";
import { cancelPrevious } from "../ui/debounce.js";
import { alertOf, announce, fill, h } from "../ui/dom.js";
import { costText } from "../ui/format.js";
import { request, showAnswers } from "./ask.js";
import { basketOf, batchOf, emptyBasket, removeFromBasket } from "./basket.js";
import { isWanted } from "./confirm_release.js";
import { fromNano, toNano } from "./plan/planned_answer.js";
import { shortage } from "./plan/shortage.js";

const focusOn = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus();

/** Return the price of each question of a planned batch: the sum of its items'. */
function prices(questions, items) {
  let at = 0;
  return questions.map(({ items: own }) => {
    const mine = items.slice(at, at + own.length);
    at += own.length;
    return fromNano(mine.reduce((total, { charged }) => total + toNano(charged), 0n));
  });
}

/** Return the answers of a basket, for `showAnswers`: a derived statistic follows from releases that are known now. */
async function answersOf(name, questions, batch) {
  const answers = [];
  const paid = new Map(batch.items.filter(({ reused }) => !reused).map(({ id, budget }) => [id, budget.charged]));
  let at = 0;
  for (const { to, body, items } of questions) {
    const first = batch.items[at];
    at += items.length;
    if (to === "releases") answers.push({ to, found: first });
    else {
      const plan = await call("POST", `${path("datasets", name)}/derived/plan`, body);
      if (toNano(plan.budget.charged) !== 0n)
        throw new Error("Its releases are made; ask for the derived statistic alone.");
      answers.push({ to, found: await request(name, "derived", body), body, paid });
    }
  }
  return answers;
}

/**
 * Return the basket of a dataset: `element`, `show()` to plan and show it again, and `again(body)` for a lost answer.
 * `people` returns what `shortage` takes, `answer` is where answers go, and `afterwards` runs after a release.
 */
export function basketView(name, people, answer, afterwards) {
  const element = h("section", { class: "card basket", "aria-label": "Basket", hidden: true });
  const trouble = h("div");
  const publisher = () => publisherOf(people().me, people().budget);
  let planning = false;

  async function ask(body) {
    const questions = basketOf(name);
    const same = questions.length > 0 && JSON.stringify(batchOf(questions)) === JSON.stringify(body);
    const batch = await request(name, "batches", body);
    if (same) emptyBasket(name);
    const single = batch.items.map((found) => ({ to: "releases", found }));
    try {
      showAnswers(answer, same ? await answersOf(name, questions, batch) : single, batch.budget.charged, publisher());
    } catch (error) {
      showAnswers(answer, single, batch.budget.charged, publisher());
      answer.prepend(alertOf(error));
    }
    afterwards();
  }
  async function release(button) {
    if (planning || button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    fill(trouble);
    try {
      const questions = basketOf(name);
      const body = batchOf(questions); // what is confirmed is what is released
      const plan = await call("POST", `${path("datasets", name)}/batches/plan`, body);
      if (
        await isWanted(
          plan,
          h(
            "ul",
            {},
            questions.map(({ told }) => h("li", {}, told)),
          ),
        )
      )
        await ask(body);
    } catch (error) {
      fill(trouble, alertOf(error));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  }
  const row = (question, at, cost) =>
    h(
      "li",
      {},
      h("span", { class: "basket-question" }, question.told),
      h("span", { class: "number" }, cost === undefined ? "" : toNano(cost) === 0n ? "free" : `ε ${costText(cost)}`),
      h(
        "button",
        {
          type: "button",
          class: "quiet small",
          "aria-label": `Remove from the basket: ${question.told}`,
          click: () => {
            removeFromBasket(name, at);
            announce("The question is removed from the basket.");
            show();
            focusOn(element.hidden ? "main h1" : ".basket h2"); // the button is gone
          },
        },
        "Remove",
      ),
    );
  function draw(questions, plan) {
    const each = plan ? prices(questions, plan.items) : [];
    const total = plan?.budget.charged;
    const button = h(
      "button",
      { type: "button", click: () => release(button) },
      !plan
        ? "Release all"
        : toNano(total) === 0n
          ? "Get all answers for nothing"
          : `Release all for ε ${costText(total)}`,
    );
    element.hidden = questions.length === 0;
    const isFocused = document.activeElement === element.querySelector("h2");
    fill(
      element,
      h("h2", { tabindex: "-1" }, `Basket: ${questions.length} ${questions.length === 1 ? "question" : "questions"}`),
      h(
        "ul",
        { class: "plain basket-list" },
        questions.map((question, at) => row(question, at, each[at])),
      ),
      plan && h("p", {}, plan.summary),
      plan && !plan.budget.affordable && shortage(plan.budget, people()),
      h(
        "div",
        { class: "actions" },
        button,
        h(
          "button",
          {
            type: "button",
            class: "quiet",
            click: () => {
              emptyBasket(name);
              show();
            },
          },
          "Empty the basket",
        ),
      ),
      trouble,
    );
    if (isFocused) focusOn(".basket h2");
  }
  const show = cancelPrevious(async (signal) => {
    const questions = basketOf(name);
    planning = true;
    draw(questions, null);
    let plan = null;
    try {
      if (questions.length > 0) plan = await call("POST", `${path("datasets", name)}/batches/plan`, batchOf(questions));
      if (signal.aborted) return;
      fill(trouble);
      draw(questions, plan);
    } catch (error) {
      if (!signal.aborted) fill(trouble, alertOf(error));
    } finally {
      if (!signal.aborted) planning = false;
    }
  });
  return { element, show, again: (body) => ask(body).catch((error) => fill(answer, alertOf(error))) };
}
