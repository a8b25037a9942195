// The page where somebody asks a question: a sentence with choices, what it costs, and what the answer will look like.

import { call, get, path } from "../api.js";
import { derivedName } from "../charts/derived_results.js";
import { publisherOf } from "../figures/publisher.js";
import { prepareRequests } from "../forms/ask.js";
import { addToBasket, basketQuestion, refusal } from "../forms/basket.js";
import { basketView } from "../forms/basket_view.js";
import { isWanted } from "../forms/confirm_release.js";
import { lostResponses } from "../forms/lost_responses.js";
import { costCard, errorOf, exactFigures, isBargain, isGain, offer, otherPrices } from "../forms/plan/cost_card.js";
import { curveFold } from "../forms/plan/curve_fold.js";
import { expectation, treatmentNotes } from "../forms/plan/expectation.js";
import { plannedAnswer } from "../forms/plan/planned_answer.js";
import { advancedOptions } from "../forms/question/advanced_options.js";
import { guessForm } from "../forms/question/guess_form.js";
import { precisionForm } from "../forms/question/precision_form.js";
import { questionForm } from "../forms/question/question_form.js";
import { guessesOf, missingChoice, requestOf, statisticOf } from "../forms/question/questions.js";
import { publicRange } from "../forms/question/suppositions.js";
import { cancelPrevious, debounce } from "../ui/debounce.js";
import { alertOf, announce, fill, form, h } from "../ui/dom.js";
import { costText, statistic } from "../ui/format.js";

const SETTLE_MS = 250;
const OF_PRECISION = ["/problems/accuracy-trivial", "/problems/accuracy-unattainable", "/problems/epsilon-too-large"];

/** Return a request in one line. */
const told = ({ to, body }) => (to === "derived" ? derivedName(body.derived) : statistic(body.statistic));

/** Return the path of the plan of a request. */
const planPath = (name, to) => `${path("datasets", name)}/${to === "derived" ? "derived/plan" : "plan"}`;

/** Plan a request; a guess is only for plans, so it is no part of the release's body. */
async function plan(name, { to, body, guessed }) {
  const guess = to === "releases" && guessed.guess ? { guess: guessed.guess } : {};
  return plannedAnswer(to, await call("POST", planPath(name, to), { ...body, ...guess }));
}

/** Return what a request asks of. */
const about = ({ to, body }) => ({ to, statistic: to === "derived" ? body.derived : body.statistic });

/** Return the same request for another ε. */
function atEpsilon(request, epsilon) {
  const { epsilon: _, accuracy: __, relative_accuracy: ___, guess: ____, ...rest } = request.body;
  return { ...request, body: { ...rest, epsilon } };
}

export async function planner(name, me, budget) {
  const dataset = await get(path("datasets", name));
  const outcome = h("div");
  const exact = h("div");
  const prices = h("div");
  const looks = h("div");
  const notes = h("div");
  const note = h("div", { class: "notice", "aria-label": "What counts", role: "group" });
  const trouble = h("div");
  const answer = h("div");
  const brief = h("output", { class: "visually-hidden" }); // read aloud when a plan arrives
  const people = () => ({ name, me, budget, renewed: afterwards });
  let ready = false;

  const changed = () => {
    if (ready) {
      stale();
      sooner();
    }
  };
  const asked = questionForm(dataset, changed, () => ready && exactly.renew());
  const options = advancedOptions(changed, asked.weighting);
  const exactly = precisionForm(changed);
  const guesses = guessForm(dataset, asked.named, changed);
  const curve = curveFold(name, exactly.take);

  const question = () => ({ ...asked.question(), method: options.method() });
  const problem = () => asked.problem() ?? exactly.problem() ?? guesses.problem() ?? options.problem();
  const relative = () => exactly.precision().by === "relative_accuracy";
  /** Return the request of what is in the fields now. */
  function requested(of = question()) {
    const guessed = guesses.guessed();
    return {
      question: of,
      guessed,
      ...requestOf(of, dataset.columns, {
        precision: exactly.precision(),
        guessed,
        options: { alpha: exactly.alpha(), ...options.body() },
      }),
    };
  }
  /** Fit the fields to the question: which guesses it takes, and which choices it has. */
  function refresh() {
    asked.refresh();
    note.hidden = asked.about.hidden && notes.childElementCount === 0;
    const of = question();
    const found = statisticOf(of, dataset.columns);
    const names = guessesOf(found, dataset.columns);
    guesses.set(found, names, relative);
    exactly.allow(names.compared !== null);
    options.offerMethod(of.want === "quantile");
  }

  function noted(rules) {
    fill(notes, rules);
    note.hidden = asked.about.hidden && notes.childElementCount === 0;
  }

  function stale() {
    refresh();
    button.textContent = "Release";
    board.setAttribute("aria-busy", "true");
    curve.forget();
  }
  const remind = (costs) => fill(reminder, costs && "Release asks once more. ", "Enter only plans.");
  function unplanned(message) {
    fill(outcome, message);
    for (const part of [exact, prices, looks, notes, brief]) fill(part);
    details.hidden = true;
    remind(false);
  }
  /** Show where a request is wrong: at its fields, and what has none in the place of the plan. */
  function refused(error) {
    const errors = OF_PRECISION.includes(error.type)
      ? [{ where: "epsilon", what: error.message }]
      : (error.errors ?? []).map(({ where, what }) => ({ where, what: `This ${what}.` }));
    const homeless = errors.filter(
      ({ where, what }) => ![asked, exactly, guesses, options].some((part) => part.show(where, what)),
    );
    unplanned(
      errors.length > 0 && homeless.length === 0
        ? h("p", { class: "muted" }, "Not planned: see the marked field.")
        : alertOf({ ...error, title: error.title, message: error.message, errors: homeless }),
    );
  }
  function show(found, request) {
    exactly.follow({ epsilon: found.epsilon, radius: found.radius, unit: found.unit, percent: found.share });
    const error = errorOf(found);
    button.textContent = found.free
      ? "Get the answer for nothing"
      : found.affordable
        ? `Release for ε ${costText(found.charged)}`
        : "Release";
    remind(found.affordable && !found.free);
    fill(outcome, costCard(found, people()));
    fill(looks, expectation(found, request, dataset));
    fill(exact, h("p", {}, found.plan.summary), exactFigures(found));
    details.hidden = false;
    const cost = found.free
      ? "for nothing"
      : found.affordable
        ? `for ε ${costText(found.charged)}`
        : found.plan.budget.allowance_remaining === null
          ? "with an allowance"
          : "for more than you have left";
    fill(brief, error === null ? cost : `± ${error} ${cost}`);
    curve.show(request, found);
  }
  /** Show what half and twice the ε would buy, and what the other way to count missing values would be. */
  async function compare(found, request, signal) {
    const { cliff } = found.plan;
    const range = publicRange(about(request), dataset);
    const better =
      cliff &&
      isBargain(found, cliff) &&
      isGain(found, { ...found, radius: cliff.accuracy, charged: cliff.epsilon }, range) &&
      offer(
        "Better buy",
        cliff.epsilon,
        cliff.epsilon,
        `${errorOf({ ...found, radius: cliff.accuracy })}`,
        exactly.take,
      );
    const others = found.free || better ? [] : otherPrices(found);
    const made = await Promise.all(
      others.map(async ([title, epsilon]) => {
        const other = await plan(name, atEpsilon(request, epsilon)).catch(() => null); // such as above the largest ε
        return (
          other &&
          isGain(found, other, range) &&
          offer(title, epsilon, costText(other.charged), errorOf(other), exactly.take)
        );
      }),
    );
    const counterpart = await otherTreatment(found, request).catch(() => null);
    if (signal.aborted) return;
    fill(prices, better, made);
    noted(treatmentNotes(found, counterpart));
  }
  /** Plan the question with missing values counted the other way, for the same ε; null if there is no such choice. */
  async function otherTreatment(found, { question: of, guessed, body }) {
    if (!missingChoice(of, dataset.columns)) return null;
    const { alpha, gamma, grid_refinement, reuse } = body;
    const turned = requestOf({ ...of, exclude: !of.exclude }, dataset.columns, {
      guessed,
      precision: { by: "epsilon", value: found.epsilon },
      options: { alpha, gamma, grid_refinement, reuse },
    });
    return plan(name, { ...turned, guessed: {} });
  }

  const replan = cancelPrevious(async (signal) => {
    refresh();
    const wrong = problem();
    if (wrong !== null) {
      board.removeAttribute("aria-busy");
      unplanned(h("p", { class: "muted" }, "Not planned yet: ", wrong));
      return;
    }
    const request = requested();
    board.setAttribute("aria-busy", "true");
    try {
      const found = await plan(name, request);
      if (signal.aborted) return;
      noted(treatmentNotes(found, null));
      show(found, request);
      board.removeAttribute("aria-busy");
      await compare(found, request, signal);
    } catch (error) {
      if (signal.aborted) return;
      board.removeAttribute("aria-busy");
      refused(error);
    }
  });
  const sooner = debounce(replan, SETTLE_MS);

  /** Forget the plan that was shown: a release or another dataset's owner has changed the budget. */
  const afterwards = async () => {
    budget = await get(`${path("datasets", name)}/budget`).catch(() => budget);
    replan();
    basket.show();
  };
  const { ask, again, tryOut } = prepareRequests(name, answer, afterwards, () => publisherOf(me, budget));
  const basket = basketView(name, people, answer, afterwards);

  /** Run an act of a button once at a time, with what is in the fields now. */
  const act = (control, what) => async () => {
    if (control().getAttribute("aria-disabled") === "true") return;
    control().setAttribute("aria-disabled", "true");
    fill(trouble);
    try {
      refresh();
      const wrong = asked.pending() ?? problem();
      if (wrong !== null) throw { title: "Not asked yet", message: wrong };
      await what(requested());
    } catch (error) {
      fill(trouble, alertOf(error));
    } finally {
      control().removeAttribute("aria-disabled");
    }
  };
  const button = h(
    "button",
    {
      type: "button",
      class: "release",
      click: act(
        () => button,
        async (request) => {
          const found = await plan(name, request); // what is confirmed is what is released, whatever is typed meanwhile
          if (await isWanted(found.plan)) await ask(request.to, request.body);
        },
      ),
    },
    "Release",
  );
  const adding = h(
    "button",
    {
      type: "button",
      class: "quiet",
      click: act(
        () => adding,
        async (request) => {
          const found = await plan(name, request);
          const added = basketQuestion(request, found.plan, told(request));
          const why = refusal(name, added);
          if (why !== null) throw { title: "Not added", message: why };
          addToBasket(name, added);
          announce("The question is in the basket.");
          await basket.show();
        },
      ),
    },
    "Add to basket",
  );

  const trying = h(
    "button",
    {
      type: "button",
      class: "quiet",
      click: act(
        () => trying,
        ({ to, body }) => tryOut(to, body),
      ),
    },
    "Try it with made-up data",
  );

  const reminder = h("p", { class: "muted" });
  const details = h("details", { hidden: true }, h("summary", {}, "Exact figures"), exact);
  const board = h(
    "aside",
    { class: "card board sticky", "aria-label": "The plan" },
    outcome,
    prices,
    h("div", { class: "actions" }, button, adding, trying, h("button", { type: "submit", class: "link" }, "Plan")),
    reminder,
    trouble,
    brief,
    details,
    curve.element,
  );
  const page = form(
    { class: "ask" },
    replan,
    h(
      "div",
      { class: "split" },
      h(
        "section",
        { class: "card", "aria-label": "The question" },
        h("div", { class: "sentence" }, asked.sentence, exactly.element),
        asked.below,
        note,
        looks,
        guesses.element,
        options.element,
      ),
      board,
    ),
  );
  fill(note, asked.about, notes);
  ready = true;
  replan();
  basket.show();
  return [
    ...["releases", "derived"].flatMap((to) => lostResponses(name, to, (body) => told({ to, body }), again(to))),
    ...lostResponses(name, "batches", ({ items }) => `${items.length} releases of a basket`, basket.again),
    page,
    basket.element,
    answer,
  ];
}
