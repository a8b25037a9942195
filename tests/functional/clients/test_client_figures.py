"""A figure is published from answers as they are, or from their ids."""

import pytest
from service_world import X_COLUMNS, Service, key_of, numbers_csv

from snapledger_client import Client, InvalidRequest, item, mean, variance


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
