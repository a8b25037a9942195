"""Nobody learns from releases what others may still spend, save those who see all allowances anyway."""

import httpx
import pytest
from service_world import Service, Table, numbers_csv, pages

MEAN = {"kind": "mean", "column": "x"}
HISTOGRAM = {"kind": "histogram", "column": "x", "bins": 20}
LARGE = {"kind": "histogram", "column": "x", "bins": 3_000}  # over the size that is stored plain


@pytest.fixture
def table(service: Service) -> Table:
    return service.table({"x": {"kind": "real", "bounds": [0, 100]}}, numbers_csv(20), allowance="7.25")


def read(client: httpx.Client, release_id: str) -> httpx.Response:
    answer = client.get(f"/v1/releases/{release_id}")
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.parametrize("statistic", [MEAN, HISTOGRAM, LARGE], ids=["number", "bins", "large"])
def test_a_reader_learns_all_but_what_was_left_of_the_payers_allowance(
    service: Service, table: Table, statistic: dict[str, object]
) -> None:
    paid = table.release(statistic, epsilon="0.5", key="paid")
    assert paid.json()["budget"]["allowance_remaining"] == "6.75"
    _, other = table.another("3")
    whole, release_id = paid.text, paid.json()["id"]
    redacted = whole.replace('"allowance_remaining":"6.75"', '"allowance_remaining":null')
    assert read(other, release_id).text == redacted
    listed = other.get(f"{table.path}/releases").text
    assert listed == f'{{"releases":[{redacted}],"next":null}}'
    auditor = service.principal("auditor")[1]
    for reader in (table.analyst, table.owner, service.admin, auditor):
        assert read(reader, release_id).text == whole
        assert reader.get(f"{table.path}/releases").text == f'{{"releases":[{whole}],"next":null}}'
    assert table.analyst.get("/v1/releases").text == f'{{"releases":[{whole}],"next":null}}'
    again = table.release(statistic, epsilon="0.5", key="paid")
    assert (again.headers["Idempotency-Replayed"], again.text) == ("true", whole)


def test_the_size_of_what_others_read_says_nothing_either(table: Table) -> None:
    """A page of others' releases has the same bytes, whatever was left: `6` and `5.123456789` look alike."""
    _, other = table.another("3")
    made = [table.fresh(MEAN, epsilon=epsilon) for epsilon in ("1.25", "0.876543211")]
    assert [len(one["budget"]["allowance_remaining"]) for one in made] == [1, 11]
    for release in made:
        shown = read(other, release["id"])
        assert shown.json() == release | {"budget": release["budget"] | {"allowance_remaining": None}}
        assert "content-length" not in shown.headers or int(shown.headers["content-length"]) == len(shown.content)


def test_each_page_shows_own_releases_whole_and_those_of_others_without(table: Table) -> None:
    _, other = table.another("3")
    for client in (None, other, None, other):
        assert table.release(MEAN, client=client, epsilon="0.5", reuse=False).status_code == 201
    for reader, shown in ((table.analyst, ["6.75", None, "6.25", None]), (other, [None, "2.5", None, "2"])):
        for limit in (1, 3, 100):
            found = [one for page in pages(reader, f"{table.path}/releases", limit) for one in page]
            assert [one["budget"]["allowance_remaining"] for one in found] == shown


def test_an_answer_that_reuses_shows_the_allowance_of_who_asks(table: Table) -> None:
    """A release, a batch and a derived statistic from somebody else's releases."""
    table.grant(table.analyst_name, "7.123456789")  # digits that no noisy number has
    _, other = table.another("3")
    table.fresh(MEAN, epsilon="0.5")
    deviation = {"derived": {"kind": "standard_deviation", "column": "x"}, "epsilon": "1"}
    assert table.analyst.post(f"{table.path}/derived", json=deviation).status_code == 201
    batch = {"items": [{"statistic": MEAN, "epsilon": "0.5"}]}
    asked = [("releases", {"statistic": MEAN, "epsilon": "0.5"}), ("batches", batch), ("derived", deviation)]
    for path, body in asked:
        for headers in ({}, {"Idempotency-Key": path}):
            answer = other.post(f"{table.path}/{path}", json=body, headers=headers)
            assert answer.status_code == 200, answer.text
            assert answer.json()["budget"]["allowance_remaining"] == "3"
            assert ".123456789" not in answer.text
            assert ".623456789" not in answer.text
