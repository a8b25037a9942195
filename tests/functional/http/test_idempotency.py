"""Idempotency keys: one key, one answer, byte for byte, and one debit."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv

MEAN = {"kind": "mean", "column": "x"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(X_COLUMNS, numbers_csv(50))


def test_a_key_is_answered_byte_for_byte(table: Table) -> None:
    """The same key and body: the stored status and body, byte for byte, with `Idempotency-Replayed: true`, no debit, no
    draw. Bound to … body (equal JSON values, members in any order)."""
    path, headers = f"{table.path}/releases", JSON | {"Idempotency-Key": "one key"}
    body = '{"statistic": {"kind": "mean", "column": "x"}, "epsilon": 0.5, "reuse": false}'
    first = table.analyst.post(path, content=body, headers=headers)
    assert first.status_code == 201
    assert "Idempotency-Replayed" not in first.headers
    reordered = '{"reuse":false,"epsilon":5.0e-1,"statistic":{"column":"\\u0078","kind":"mean"}}'
    again = table.analyst.post(path, content=reordered, headers=headers)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert table.budget()["epsilon_spent"] == "0.5"


@pytest.mark.parametrize(
    "other",
    [
        *({"epsilon": "0.5"}, {"epsilon": 0.6}, {"epsilon": 0.5, "alpha": 0.05}, {"epsilon": 0.5, "reuse": True}),
        {
            "epsilon": 0.5,
            "grid_refinement": "auto",
        },  # a default may change: old keys still replay
        {"epsilon": 0.5, "statistic": MEAN | {"bounds": [0, 100]}},
    ],
    ids=str,
)
def test_another_body_is_refused(one_service: Service, other: dict[str, object]) -> None:
    """Another body: 422 `key-reused`. (Equal in what it asks for is not equal in JSON.)"""
    table = one_service.table(X_COLUMNS, numbers_csv(50))
    assert table.release(MEAN, key="k", epsilon=0.5).status_code == 201
    with table.service.unchanged():
        refused = table.analyst.post(
            f"{table.path}/releases", json={"statistic": MEAN} | other, headers={"Idempotency-Key": "k"}
        )
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/key-reused")


def test_a_key_is_bound_to_principal_and_path(service: Service, table: Table) -> None:
    """`Idempotency-Key` …, bound to principal, path and body."""
    first = table.release(MEAN, key="k", epsilon="0.5", reuse=False)
    _, other = table.another("1")
    others = table.release(MEAN, key="k", client=other, epsilon="0.5", reuse=False)
    assert (others.status_code, "Idempotency-Replayed" in others.headers) == (201, False)
    assert others.json()["id"] != first.json()["id"]
    elsewhere = service.table(X_COLUMNS, numbers_csv(50))
    elsewhere.grant(table.analyst_name, "1")
    refused = elsewhere.release(MEAN, key="k", client=table.analyst, epsilon="0.5", reuse=False)
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/key-reused")


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "gr\u00fcn"])
def test_an_idempotency_key_that_is_none(one_service: Service, key: str) -> None:
    """`Idempotency-Key` (1 to 255 printable ASCII characters)."""
    table = one_service.shared_table(X_COLUMNS, numbers_csv(50))
    with one_service.unchanged():
        headers = {"Idempotency-Key": key.encode("latin-1")}
        answer = table.analyst.post(f"{table.path}/releases", json={"statistic": MEAN, "epsilon": 1}, headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "Idempotency-Key")


def test_two_keys_are_none(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(50))
    headers = [("Idempotency-Key", "one"), ("Idempotency-Key", "other")]
    answer = table.analyst.post(f"{table.path}/releases", json={"statistic": MEAN, "epsilon": 1}, headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize("key", ["x" * 255, "!", "a b ~"])
def test_every_printable_key_will_do(table: Table, key: str) -> None:
    first = table.release(MEAN, key=key, epsilon=1, reuse=False)
    assert table.release(MEAN, key=key, epsilon=1, reuse=False).content == first.content


def test_refusals_are_not_stored(table: Table) -> None:
    """Refusals are not stored; their key stays usable."""
    assert table.release(MEAN, key="k", epsilon=11, reuse=False).status_code == 409
    assert table.release(MEAN, key="k", epsilon=0).status_code == 422
    assert table.release({"kind": "mean", "column": "nowhere"}, key="k", epsilon=1).status_code == 422
    assert table.owner.delete(f"{table.path}/allowances/{table.analyst_name}").status_code == 204
    assert table.release(MEAN, key="k", epsilon=1).status_code == 404
    table.grant(table.analyst_name, "5")
    assert table.release(MEAN, key="k", epsilon=1).status_code == 201
    assert table.release(MEAN, key="k", epsilon=11, reuse=False).json()["type"] == "/problems/key-reused"


def test_who_lost_access_gets_no_replay(service: Service, table: Table) -> None:
    """Order. (1) Key, visibility, body. (2) Reads only: replay …"""
    first = table.release(MEAN, key="k", epsilon=1)
    assert table.owner.delete(f"{table.path}/allowances/{table.analyst_name}").status_code == 204
    assert table.release(MEAN, key="k", epsilon=1).status_code == 404
    table.grant(table.analyst_name, "1")
    assert table.release(MEAN, key="k", epsilon=1).content == first.content
    # Keys never expire: the principal's other key changes nothing, and neither does a lower limit.
    table.analyst = service.client(table.analyst.post("/v1/me/key").json()["key"])
    assert table.release(MEAN, key="k", epsilon=1).content == first.content
    # An owner sees its dataset without an allowance, but may not release.
    table.grant(table.owner_name, "1")
    mine = table.release(MEAN, key="k", client=table.owner, epsilon=1)
    assert table.owner.delete(f"{table.path}/allowances/{table.owner_name}").status_code == 204
    assert table.release(MEAN, key="k", client=table.owner, epsilon=1).status_code == 403
    table.grant(table.owner_name, "0")
    assert table.release(MEAN, key="k", client=table.owner, epsilon=1).content == mine.content
    assert service.admin.delete(f"/v1/principals/{table.analyst_name}").status_code == 204
    assert table.release(MEAN, key="k", epsilon=1).status_code == 401


def test_reuse_is_stored_as_its_key_s_answer(table: Table) -> None:
    first = table.fresh(MEAN, epsilon="0.5")
    reused = table.release(MEAN, key="second", epsilon="0.5")
    table.fresh(MEAN, epsilon="2")  # would answer better now
    again = table.release(MEAN, key="second", epsilon="0.5")
    assert (again.status_code, again.content) == (200, reused.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json()["id"] == first["id"]


def test_a_fresh_draw_needs_a_key(table: Table) -> None:
    """`reuse: false` draws afresh and requires a key (400 without)."""
    answer = table.analyst.post(f"{table.path}/releases", json={"statistic": MEAN, "epsilon": 1, "reuse": False})
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/key-required")
    assert table.analyst.post(f"{table.path}/releases", json={"statistic": MEAN, "epsilon": 1}).status_code == 201
    assert table.plan(MEAN, epsilon=1, reuse=False).status_code == 200


def test_fifty_twins_are_one_debit_and_one_answer(table: Table) -> None:
    """Of simultaneous twins a unique constraint lets one commit, and the others discard their draws and answer its
    bytes."""
    gate = threading.Barrier(50)

    def ask(_: int) -> tuple[int, bytes]:
        gate.wait()
        answer = table.release(MEAN, key="the one", epsilon="0.5", reuse=False)
        return answer.status_code, answer.content

    with ThreadPoolExecutor(50) as pool:
        answers = set(pool.map(ask, range(50)))
    assert len(answers) == 1
    assert answers.pop()[0] == 201
    assert table.budget()["epsilon_spent"] == "0.5"
    assert [entry["kind"] for entry in table.entries()] == ["open", "allow", "debit"]


def test_fifty_who_ask_the_same_pay_once(table: Table) -> None:
    """Look for reuse again (found: no debit, stored as this key's answer)."""
    gate = threading.Barrier(50)

    def ask(index: int) -> tuple[int, str, str]:
        gate.wait()
        answer = table.release(MEAN, key=f"key {index}", epsilon="0.5")
        return answer.status_code, answer.json()["id"], answer.json()["budget"]["charged"]

    with ThreadPoolExecutor(50) as pool:
        answers = sorted(pool.map(ask, range(50)))
    release_id = answers[0][1]
    assert answers == [(200, release_id, "0")] * 49 + [(201, release_id, "0.5")]
    assert table.budget()["epsilon_spent"] == "0.5"
    assert table.release(MEAN, key="key 7", epsilon="0.5").headers["Idempotency-Replayed"] == "true"
