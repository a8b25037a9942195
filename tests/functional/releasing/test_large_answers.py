"""Answers of many bins are stored small, replayed to the byte and listed by bytes; what is stored has a limit."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lengths import ON_POSTGRES_SLOWLY, SERVICE_ON_POSTGRES_SLOWLY
from service_world import Service, Table, pages, serving
from sqlalchemy import text

from app.db.database import Database

BINS = 30_000  # more than are made beside others
HISTOGRAM = {"kind": "histogram", "column": "x", "bins": BINS}
COLUMNS = {"x": {"kind": "real", "bounds": [0, 100]}}
LIMIT_BYTES = 8_000


@pytest.fixture
def small_service(tmp_path: Path, database_url: str) -> Iterator[Service]:
    with serving(tmp_path, database_url, MAX_STORED_BYTES_PER_ALLOWANCE=str(LIMIT_BYTES)) as service:
        yield service


def table_of(service: Service) -> Table:
    return service.table(COLUMNS, "x\n" + "1.5\n2.5\n3.5\n4.5\n" * 25, limit="1000", allowance="1000")


def stored_bytes(service: Service) -> tuple[int, int]:
    """What the database holds of releases' answers, and of answers beside them."""
    database = Database(service.database_url)
    with database.read() as session:
        found = [
            session.connection.scalar(text(f"SELECT coalesce(sum(length({column})), 0) FROM {table}")) or 0  # noqa: S608
            for table, column in (("releases", "response"), ("idempotency", "body"))
        ]
    database.close()
    return int(found[0]), int(found[1])


@SERVICE_ON_POSTGRES_SLOWLY
def test_a_large_answer_is_stored_small_and_replayed_to_the_byte(service: Service) -> None:
    table = table_of(service)
    before = stored_bytes(service)
    fresh = table.release(HISTOGRAM, key="fresh", epsilon="0.000000002")
    after = stored_bytes(service)
    assert fresh.status_code == 201
    assert after[0] - before[0] < len(fresh.content) / 3
    reused = [table.release(HISTOGRAM, key=f"reuse {i}", epsilon="0.000000002", alpha=0.1) for i in range(3)]
    assert [answer.status_code for answer in reused] == [200] * 3
    assert stored_bytes(service)[1] - after[1] < 3 * 2_000
    assert reused[0].json()["value"] == fresh.json()["value"]
    assert len(reused[0].json()["accuracy"]["interval"]) == BINS + 1
    for key, answer, alpha in (("fresh", fresh, 0.05), ("reuse 0", reused[0], 0.1)):
        again = table.release(HISTOGRAM, key=key, epsilon="0.000000002", **({} if alpha == 0.05 else {"alpha": alpha}))
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.content == answer.content
    assert table.analyst.get(f"/v1/releases/{fresh.json()['id']}").content == fresh.content
    assert service.admin.get(f"{table.path}/ledger/verification").json()["valid"] is True


def test_simultaneous_twins_of_a_large_release_have_one_answer(one_service: Service) -> None:
    """Though only one large answer is made at a time, and looked through within the same limit."""
    table = table_of(one_service)
    with ThreadPoolExecutor(2) as pool:
        twins = list(pool.map(lambda _: table.release(HISTOGRAM, key="same", epsilon="0.5", reuse=False), range(2)))
    assert [twin.status_code for twin in twins] == [201, 201]
    assert twins[0].content == twins[1].content
    assert table.budget()["epsilon_spent"] == "0.5"


@SERVICE_ON_POSTGRES_SLOWLY
@pytest.mark.parametrize("key", [None, "key"])
def test_a_small_answer_follows_a_large_one_in_a_batch(service: Service, key: str | None) -> None:
    """The row of the large one is written at once, those of the small one together and later."""
    table = table_of(service)
    asked = [{"statistic": statistic, "epsilon": "1"} for statistic in (HISTOGRAM, {"kind": "mean", "column": "x"})]
    headers = {} if key is None else {"Idempotency-Key": key}
    answer = table.analyst.post(f"{table.path}/batches", json={"items": asked}, headers=headers)
    assert answer.status_code == 201, answer.text
    assert [entry["release_id"] for entry in table.entries()[2:]] == [each["id"] for each in answer.json()["items"]]
    assert table.budget()["epsilon_spent"] == "2"
    assert service.admin.get(f"{table.path}/ledger/verification").json()["valid"] is True


@pytest.mark.slow
def test_a_page_ends_by_bytes_and_the_next_goes_on(service: Service) -> None:
    table = table_of(service)
    large = HISTOGRAM | {"bins": 100_000}
    made = [table.fresh(large, epsilon="0.000000002")["id"] for _ in range(3)]
    made.append(table.fresh({"kind": "mean", "column": "x"}, epsilon="1")["id"])
    listed = list(pages(table.analyst, f"{table.path}/releases", 1000))
    assert [release["id"] for page in listed for release in page] == made
    assert len(listed) > 1
    assert all(len(page) == 1 or len(json.dumps(page, separators=(",", ":"))) <= 2**23 for page in listed)


@ON_POSTGRES_SLOWLY
def test_what_a_principal_stores_has_a_limit(small_service: Service) -> None:
    table = table_of(small_service)
    mean = {"kind": "mean", "column": "x"}
    first = table.release(mean, key="first", epsilon="1")
    assert first.status_code == 201
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: table.release(mean, key=f"k{i}", epsilon="1"), range(16)))
    refused = [answer for answer in answers if answer.status_code == 409]
    assert len(refused) + sum(answer.status_code == 200 for answer in answers) == 16
    assert len(refused) >= 16 - LIMIT_BYTES // 1_024
    problem = refused[0].json()
    assert problem["type"] == "/problems/storage-exhausted"
    assert (problem["scope"], problem["limit_bytes"]) == ("allowance", LIMIT_BYTES)
    assert LIMIT_BYTES <= problem["stored_bytes"] < LIMIT_BYTES + 4_096  # the last one below it is stored whole
    spent, scans = table.budget()["epsilon_spent"], small_service.scans()
    with small_service.unchanged():
        assert table.release({"kind": "variance", "column": "x"}, reuse=False, epsilon="1").status_code == 409
    assert (table.budget()["epsilon_spent"], small_service.scans()) == (spent, scans)
    assert table.release(mean, key="first", epsilon="1").content == first.content
    body = {"statistic": mean, "epsilon": "1"}
    assert (
        table.analyst.post(f"{table.path}/releases", json=body).status_code == 200
    )  # without a key, nothing is stored
    _, other = table.another("1")
    assert table.release(mean, client=other, epsilon="1").status_code == 200
