"""Owners change what they have read, and nothing that somebody else has changed since."""

import pytest
from service_world import X_COLUMNS, Service, key_of, numbers_csv

from snapledger_client import (
    AlreadyExists,
    Client,
    GrantedAllowance,
    PreconditionFailed,
    calls,
    item,
    mean,
    report_figure,
)


def test_a_change_is_of_the_state_that_was_read(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100), limit="10", allowance="2")
    with Client(table.service.url, key_of(table.owner)) as owner:
        dataset, name = owner.dataset(table.name), table.analyst_name
        granted, limit = dataset.allowance(name), dataset.limit()
        dataset.allow(name, 3, if_match=granted)
        dataset.adjust(11, "more rows", if_match=limit.etag)
        changes = (
            lambda: dataset.allow(name, 9, if_match=granted),
            lambda: dataset.revoke(name, if_match=granted.etag),
            lambda: dataset.adjust(99, "too late", if_match=limit),
        )
        for change in changes:
            with pytest.raises(PreconditionFailed):
                change()
        assert (dataset.allowance(name).epsilon_limit, dataset.limit().epsilon_limit) == (3, 11)
        assert "etag" not in str(granted.to_dict())
        dataset.revoke(name, if_match=dataset.allowance(name))


def test_a_figure_is_changed_only_from_the_version_that_was_read(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100), limit="10", allowance="2")
    with Client(table.service.url, key_of(table.analyst)) as analyst:
        dataset = analyst.dataset(table.name)
        releases = [dataset.mean("x", epsilon="0.5").id]
        with pytest.raises(PreconditionFailed):
            dataset.publish("x", "No such figure", releases=releases, if_match="*")
        published = dataset.publish("x", "One", releases=releases)
        with pytest.raises(ValueError, match="no entity tag"):  # only an answer that was read has one
            dataset.publish("x", "Unread", releases=releases, if_match=published)
        first = dataset.figure("x")
        assert dataset.publish("x", "Two", releases=releases, if_match=first).version == 2
        for late in (first, first.etag, dataset.figure("x", 1)):
            with pytest.raises(PreconditionFailed):
                dataset.publish("x", "Three", releases=releases, if_match=late)
            with pytest.raises(PreconditionFailed):
                dataset.withdraw("x", if_match=late)
        assert [each.title for each in dataset.figure_versions("x")] == ["One", "Two"]
        assert "etag" not in str(first.to_dict())
        dataset.withdraw("x", if_match=dataset.figure("x").etag)
        assert list(dataset.figures()) == []


def test_a_report_is_changed_only_as_it_was_read(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100), limit="10", allowance="2")
    with Client(table.service.url, key_of(table.analyst)) as analyst:
        dataset, asked = analyst.dataset(table.name), ([item(mean("x"), epsilon="0.5")], [report_figure("x", "X")])
        defined = dataset.define_report("monthly", *asked, epsilon_per_run=1, epsilon_total=1)
        with pytest.raises(ValueError, match="no entity tag"):  # only an answer that was read has one
            dataset.withdraw_report("monthly", if_match=defined)
        read = dataset.report("monthly")
        dataset.define_report("monthly", *asked, epsilon_per_run=1, epsilon_total=2, if_match=read)
        with pytest.raises(PreconditionFailed):
            dataset.define_report("monthly", *asked, epsilon_per_run=1, epsilon_total=3, if_match=read.etag)
        with pytest.raises(PreconditionFailed):
            dataset.withdraw_report("monthly", if_match=read)
        assert dataset.report("monthly").epsilon_total == 2
        dataset.withdraw_report("monthly", if_match=dataset.report("monthly"))
        assert list(dataset.reports()) == []


def test_what_exists_is_not_made_anew(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(100), limit="10", allowance="2")
    with Client(table.service.url, key_of(table.owner)) as owner:
        dataset, board = owner.dataset(table.name), f"board-of-{table.name}"
        dataset.allow(table.owner_name, 1, only_new=True)
        releases, figures = dataset.mean("x", epsilon="0.5"), [{"figure": "monthly", "title": "X"}]
        items, budget = [item(mean("x"), epsilon="0.5")], {"epsilon_per_run": 1, "epsilon_total": 1}
        changes = (
            lambda title: dataset.publish("x", title, releases=releases, only_new=True),
            lambda title: owner.put_collection(board, title, [f"{table.name}/x"], only_new=True),
            lambda title: dataset.define_report(title, items, figures, only_new=True, **budget),
        )
        for change in changes:
            change("title")
            with pytest.raises(AlreadyExists):
                change("title")
        with pytest.raises(AlreadyExists):
            dataset.allow(table.owner_name, 5, only_new=True)
        assert dataset.allowance(table.owner_name).epsilon_limit == 1


def test_a_conditional_change_is_not_sent_twice() -> None:
    assert calls.set_allowance("penguins", "ada", 1, None, None, only_new=False).repeatable
    call = calls.set_allowance("penguins", "ada", 1, None, '"tag"', only_new=False)
    assert (call.headers["If-Match"], call.repeatable) == ('"tag"', False)
    call = calls.set_allowance("penguins", "ada", 1, None, None, only_new=True)
    assert (call.headers["If-None-Match"], call.repeatable) == ("*", False)


def test_an_answer_without_a_tag_is_no_condition() -> None:
    granted = GrantedAllowance(dataset="penguins", principal="ada", epsilon_limit="1", window_days=None)
    for nothing in (granted, ""):
        with pytest.raises(ValueError, match="no entity tag"):
            calls.set_allowance("penguins", "ada", 1, None, nothing, only_new=False)
