"""What a report asks: a batch, and the figures that its releases are published as."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from app.db.repositories.datasets import Dataset
from app.errors import InvalidRequestError
from app.json_text import NumberText, encode_json
from app.ledger.figures import Audience
from app.ledger.units import format_rounded_epsilon
from app.services.context import Services
from app.services.figures.sources import MAX_ROWS, AnsweringRelease, Source
from app.services.planning import epsilon_allocation
from app.services.planning.epsilon_allocation import Batch
from app.services.planning.questions import Plan
from app.services.releasing.charges import list_charges
from app.services.rendering.written_numbers import read_canonical_number


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A figure that a report publishes: `items` are the positions of its questions in the batch, None for all."""

    figure: str
    title: str
    note: str | None
    audience: Audience
    items: Sequence[int] | None

    def select(self, of_items: Sequence[Any]) -> list[Any]:
        """Return what belongs to this figure, of what belongs to each item of the batch."""
        return list(of_items) if self.items is None else [of_items[place] for place in self.items]


@dataclass(frozen=True, slots=True)
class Definition:
    """A batch and its figures; `text` is the same as canonical JSON, as it is stored."""

    batch: Batch
    figures: Sequence[ReportFigure]
    text: str

    @property
    def is_public(self) -> bool:
        """Whether a figure is to be public."""
        return any(each.audience == "public" for each in self.figures)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a report asks, and the most that one run and all runs together may cost, in ledger units."""

    definition: Definition
    run_limit_nano: int
    total_limit_nano: int


_USUAL_ALPHA = NumberText("5e-2")
"""That of a batch without one, in canonical JSON."""

ReadDefinition: TypeAlias = Callable[[str], Definition]
"""Reads a definition from its stored text."""


def show_definition(text: str) -> dict[str, Any]:
    """Return a stored definition as JSON, with numbers as people write them and all their digits."""
    shown: dict[str, Any] = json.loads(text, parse_float=read_canonical_number)
    return shown


def list_published(text: str) -> list[str]:
    """Return the names of the figures of a run, which stores the definition that it released."""
    definition = json.loads(text)
    # A run of an earlier version stores only its figures.
    return [each["figure"] for each in (definition["figures"] if isinstance(definition, dict) else definition)]


def read_publications(
    text: str, release_ids: Sequence[str], read_definition: ReadDefinition
) -> Iterator[tuple[ReportFigure, Source]]:
    """Yield the figures of a run with what they show: each release as the answer to the item that it answered.

    Args:
        text: the definition that the run released, as it is stored with it.
        release_ids: the release of each item.
        read_definition: reads the definition.
    """
    stored = json.loads(text, parse_float=NumberText)  # as it is written
    if isinstance(stored, list):  # of an earlier version: only its figures
        for each in stored:
            figure = ReportFigure(**each)
            yield figure, Source.of_releases(figure.select(release_ids))
        return
    definition = read_definition(text)
    alpha, told_alpha = definition.batch.alpha, stored["batch"].get("alpha", _USUAL_ALPHA)
    answers, told = [], []
    for each, item, asked in zip(release_ids, definition.batch.items, stored["batch"]["items"], strict=True):
        answers.append(AnsweringRelease(each, item.statistic, alpha))
        told.append({"release": each, "statistic": asked["statistic"], "alpha": told_alpha})
    for figure in definition.figures:
        yield figure, Source.of_answers(figure.select(answers), encode_json(figure.select(told)).decode())


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """The plans of a batch's items and what each would be charged if no earlier release answers it."""

    plans: Sequence[Plan]
    charges: Sequence[int]

    @property
    def cost_nano(self) -> int:
        """What a run costs at most."""
        return sum(self.charges)


def plan_run(services: Services, dataset: Dataset, definition: Definition) -> PlannedRun:
    """Plan a run on a dataset from its public facts alone.

    Raises:
        InvalidRequestError: an item of the batch is refused, or a figure would have too many numbers.
    """
    try:
        plans = epsilon_allocation.plan_items(dataset, definition.batch, services.settings.max_epsilon_nano)
    except InvalidRequestError as error:
        raise InvalidRequestError(*((f"batch.{where}", what) for where, what in error.problems)) from None
    for place, figure in enumerate(definition.figures):
        if sum(plan.statistic.components for plan in figure.select(plans)) > MAX_ROWS:
            raise InvalidRequestError(
                (f"figures.{place}", f"has more than {MAX_ROWS:,} numbers: publish coarser answers, or in parts")
            )
    return PlannedRun(plans, list_charges(plans, [None] * len(plans)))


def require_affordable(cost_nano: int, terms: Terms) -> None:
    """Check that a report's budget covers one run.

    Raises:
        InvalidRequestError: it does not, and no run could ever be made.
    """
    cost = format_rounded_epsilon(cost_nano)
    for member, limit_nano in (("epsilon_per_run", terms.run_limit_nano), ("epsilon_total", terms.total_limit_nano)):
        if limit_nano < cost_nano:
            raise InvalidRequestError((member, f"is less than one run costs, which is ε = {cost}"))
