"""A figure is published from answers as they are, or from their ids."""

import pytest
from service_world import X_COLUMNS, Service, key_of, numbers_csv

from snapledger_client import (
    Client,
    Forbidden,
    InvalidRequest,
    Unauthenticated,
    item,
    mean,
    report_figure,
    variance,
)


def test_answers_are_published_as_they_are(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100), limit="10", allowance="2")
    with Client(table.service.url, key_of(table.analyst)) as analyst:
        dataset = analyst.dataset(table.name)
        first = dataset.mean("x", epsilon="0.2")
        for version, one in enumerate((first, first.id, [first], [first.id]), 1):
            published = dataset.publish("one", f"Title {version}", releases=one)
            assert (published.version, published.source) == (version, {"releases": [first.id]})
        batch = dataset.batch([item(mean("x"), epsilon="0.3"), item(variance("x"), epsilon="0.2")])
        ids = [each.id for each in batch.items]
        for several in (batch, batch.items, [batch.items[0], ids[1]]):
            assert dataset.publish("all", "All", releases=several).source == {"releases": ids}
        made_up = dataset.rehearse().mean("x", epsilon="0.2")
        with pytest.raises(InvalidRequest):
            dataset.publish("made-up", "Made up", releases=made_up)
        assert [each.figure for each in dataset.figures()] == ["all", "one"]


def test_without_a_key_what_is_public_is_read_and_the_rest_asks_for_one(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100), limit="10", allowance="2")
    with Client(table.service.url, key_of(table.analyst)) as analyst:
        release = analyst.dataset(table.name).mean("x", epsilon="0.2")
    with Client(table.service.url, key_of(table.owner)) as owner:
        dataset = owner.dataset(table.name)
        dataset.publish("open", "Open", releases=release, public=True)
        dataset.publish("closed", "Closed", releases=release)
    with Client(table.service.url, anonymous=True) as anybody:
        assert anybody.dataset(table.name).figure("open").title == "Open"
        for ask in (lambda: anybody.dataset(table.name).figure("closed"), anybody.me):
            with pytest.raises(Unauthenticated, match=r"^Not found, or not public\. Give a key"):
                ask()
    with Client(table.service.url, "mistyped") as stranger, pytest.raises(Unauthenticated, match="may be mistyped"):
        stranger.me()


def test_a_figure_of_a_report_is_public_in_the_same_words(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100), limit="10", allowance="2")
    items, budget = [item(mean("x"), epsilon="0.5")], {"epsilon_per_run": 1, "epsilon_total": 1}
    figures = [report_figure("all", "All"), report_figure("x", "X", items=[0], note="For all.", public=True)]
    with Client(table.service.url, key_of(table.owner)) as owner:
        owner.dataset(table.name).define_report("monthly", items, figures, **budget)
        shown = owner.dataset(table.name).report("monthly").figures
    assert shown == (
        {"figure": "all", "title": "All"},
        {"figure": "x", "title": "X", "items": [0], "note": "For all.", "audience": "public", "confirm_public": True},
    )
    with Client(table.service.url, key_of(table.analyst)) as analyst, pytest.raises(Forbidden):
        analyst.dataset(table.name).define_report("weekly", items, figures, **budget)
