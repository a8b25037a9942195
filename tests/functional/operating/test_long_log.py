"""A log of ten thousand requests holds no value of the data, no key, and nothing of what was asked or answered."""

import itertools
import json
import random
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from service_world import Service, Table, key_of, serving

REQUESTS, CLIENTS = 10_000, 8
LEAST = 7_310_000_000
CATEGORIES = ["Zürich-Oberstrass", "hush-hush", "never-told"]
COLUMNS = {
    "income": {"kind": "integer", "bounds": [LEAST, LEAST + 10**6]},
    "place": {"kind": "category", "categories": CATEGORIES[:2]},
}
MEAN = {"kind": "mean", "column": "income"}


def table_of(chance: random.Random) -> tuple[str, list[str]]:
    """A file and the values in it, none of which is in any log by chance."""
    rows = [(str(LEAST + chance.randrange(10**6)), chance.choice(CATEGORIES)) for _ in range(200)]
    return "income,place\n" + "\n".join(map(",".join, rows)) + "\n", [value for row in rows for value in row]


def ask(table: Table, number: int) -> list[str]:
    """One call of a dashboard's day; what must not be told of it."""
    key = f"idempotency-{secrets.token_hex(8)}"
    chance = random.Random(number)
    kinds = [
        lambda: table.plan(MEAN, epsilon="0.5"),
        lambda: table.release(MEAN, key=key, epsilon="0.5"),
        lambda: table.release(MEAN, key=key, epsilon="0.000001", reuse=False),
        lambda: table.release({"kind": "count", "where": {"place": {"in": CATEGORIES[:1]}}}, key=key, epsilon="0.1"),
        lambda: table.release({"kind": "mean", "column": "no-such-column"}, key=key, epsilon=1),
        lambda: table.analyst.get(f"{table.path}/budget"),
        lambda: table.analyst.get(f"{table.path}/releases", params={"limit": "1"}),
        lambda: table.analyst.post(f"{table.path}/plan", content=b"{no JSON, but a secret-of-mine"),
        lambda: table.service.stranger.get("/v1/me", headers={"Authorization": f"Bearer wrong-{key}"}),
        lambda: table.owner.post(
            f"{table.path}/budget/adjustments", json={"epsilon_limit": "-1", "reason": "hush-hush"}
        ),
    ]
    answer = chance.choice(kinds)()
    assert answer.status_code < 500, answer.text
    document = answer.json()
    exact = document.get("value_exact") if isinstance(document, dict) else None
    # A count of two digits is in every log; what is as long as these is in none by chance, but for ids.
    return [key, *([exact] if isinstance(exact, str) and len(exact) > 8 else [])]


@pytest.mark.slow
def test_a_log_of_ten_thousand_requests(tmp_path: Path) -> None:
    content, values = table_of(random.Random(9))
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", LOG_LEVEL="DEBUG") as service:
        table = service.table(COLUMNS, content, limit="1000", allowance="1000")
        with ThreadPoolExecutor(CLIENTS) as pool:
            hidden = set(itertools.chain.from_iterable(pool.map(lambda number: ask(table, number), range(REQUESTS))))
        log = re.sub('"[0-9a-f]{32}"', '"an id"', service.log.read_text())
        keys = [service.admin_key, *map(_key, (table.owner, table.analyst))]
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert sum(line["event"] == "request" for line in lines) >= REQUESTS
    assert sum(line["event"] == "release" for line in lines) > REQUESTS / 10
    for each in (*hidden, *values, *keys, *CATEGORIES, "secret-of-mine", "no-such-column"):
        assert each not in log, each


def _key(client: object) -> str:
    return key_of(client)  # type: ignore[arg-type]


def test_what_is_looked_for_would_be_found(one_service: Service) -> None:
    """The values are such that they would be seen: the log does have the names of principals and datasets."""
    table = one_service.table(COLUMNS, table_of(random.Random(9))[0])
    assert ask(table, 1)
    assert table.name in one_service.log.read_text() or table.analyst_name in one_service.log.read_text()
