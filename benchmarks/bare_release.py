"""What a release cannot do without, and nothing else: its rows in one durable transaction, its seals and one draw.

A baseline for releases, as somebody would write it first, for a caller whose key, question and budget are taken as
right; and one for plans, which only reads the caller and what is left. `BARE_DATABASE` is a SQLite file or the URL of a
Postgres database.
"""

import hashlib
import hmac
import json
import os
import queue
import secrets
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import gmpy2
import psycopg
import pysqlite3.dbapi2 as sqlite
from bare_question import Question
from fastapi import FastAPI, Header
from starlette.responses import Response

DATABASE = os.environ["BARE_DATABASE"]
ON_POSTGRES = DATABASE.startswith("postgresql://")
CONNECTIONS, DATASETS = 16, 16
KEY_HASH = hashlib.sha256(b"Bearer key").digest()
AT = "2026-11-30T00:00:00.000000Z"
_BYTES, _MARK = ("BYTEA", "%s") if ON_POSTGRES else ("BLOB", "?")
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS principals (key_hash {_BYTES} PRIMARY KEY, role TEXT);
CREATE TABLE IF NOT EXISTS accounts (dataset INTEGER PRIMARY KEY, spent BIGINT, seq BIGINT, head {_BYTES},
    seal {_BYTES});
CREATE TABLE IF NOT EXISTS allowances (dataset INTEGER PRIMARY KEY, spent BIGINT, seal {_BYTES});
CREATE TABLE IF NOT EXISTS entries (dataset INTEGER, seq BIGINT, at TEXT, release TEXT, answer_hash {_BYTES},
    previous {_BYTES}, hash {_BYTES}, PRIMARY KEY (dataset, seq));
CREATE TABLE IF NOT EXISTS releases (id TEXT PRIMARY KEY, dataset INTEGER, at TEXT, statistic TEXT,
    response {_BYTES}, seal {_BYTES});
CREATE TABLE IF NOT EXISTS answers_by_key (key TEXT PRIMARY KEY, request {_BYTES}, release TEXT);
CREATE TABLE IF NOT EXISTS candidates (dataset INTEGER, question {_BYTES}, release TEXT);
CREATE INDEX IF NOT EXISTS releases_of_datasets ON releases (dataset, at);
CREATE INDEX IF NOT EXISTS questions ON candidates (dataset, question);
"""
ANSWER = {
    "statistic": {"kind": "mean", "column": "x", "bounds": ["0", "100"]},
    "accuracy": {"radius": 24.5, "alpha": 0.05},
    "mechanism": {"lambda": 1.0, "b_prime": 50.0, "grid": 0.5, "centre": 50.0},
    "budget": {"charged": "0.000001", "remaining": "9.999999", "allowance_remaining": "9.999999"},
    "summary": "What the answer says in words, which is about as long as those of the service are, or so. " * 5,
}
_precise = gmpy2.context(precision=118)
_sealing = hmac.new(b"k" * 32, digestmod="sha256")
_idle: queue.SimpleQueue[Any] = queue.SimpleQueue()


def _connect() -> Any:  # noqa: ANN401 - of either database
    if ON_POSTGRES:
        return psycopg.connect(DATABASE, autocommit=True, prepare_threshold=0)
    connection = sqlite.connect(DATABASE, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _prepare() -> None:
    connection = _connect()
    if ON_POSTGRES:
        connection.execute("SELECT pg_advisory_lock(1)")  # all workers start at the same time
    for statement in filter(str.strip, SCHEMA.split(";")):
        connection.execute(statement)
    once = "ON CONFLICT DO NOTHING"
    connection.execute(f"INSERT INTO principals VALUES ({_MARK}, 'analyst') {once}", (KEY_HASH,))
    for dataset in range(DATASETS):
        connection.execute(f"INSERT INTO accounts VALUES ({dataset}, 0, 0, {_MARK}, {_MARK}) {once}", (b"", b""))
        connection.execute(f"INSERT INTO allowances VALUES ({dataset}, 0, {_MARK}) {once}", (b"",))
    connection.close()


_prepare()
for _number in range(CONNECTIONS if ON_POSTGRES else 1):
    _idle.put(_connect())
app = FastAPI()


@contextmanager
def _transaction() -> Iterator[Any]:
    """On Postgres with a round trip for what is read and one for what is written; on SQLite one after another."""
    connection = _idle.get()
    try:
        with connection.pipeline() if ON_POSTGRES else nullcontext():
            connection.execute("BEGIN" if ON_POSTGRES else "BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
    finally:
        _idle.put(connection)


def _seal(*parts: bytes) -> bytes:
    seal = _sealing.copy()
    seal.update(b"".join(parts))
    return seal.digest()


@app.post("/plans/{dataset}")
def plan(dataset: int, question: Question, authorization: Annotated[str, Header()]) -> Response:
    """Read the caller and what is left, compare one seal, and answer; nothing is planned."""
    key = hashlib.sha256(authorization.encode()).digest()
    connection = _idle.get()
    try:
        read = connection.execute(
            "SELECT p.role, a.spent, a.seq, b.spent FROM principals p, accounts a "
            f"JOIN allowances b ON b.dataset = a.dataset WHERE p.key_hash = {_MARK} AND a.dataset = {_MARK}",
            (key, dataset),
        )
        role, spent, seq, allowance = read.fetchone()
    finally:
        _idle.put(connection)
    seal = _seal(b"%d %d %d %a" % (spent, seq, allowance, role))
    assert not hmac.compare_digest(seal, key)
    answer = ANSWER | {"epsilon": question.epsilon, "at": AT}
    return Response(json.dumps(answer), media_type="application/json")


@app.post("/releases/{dataset}")
def release(dataset: int, question: Question, idempotency_key: Annotated[str, Header()]) -> dict[str, Any]:
    """Draw, and store a release with its debit, as one durable transaction."""
    asked = question.model_dump_json().encode()
    bits = gmpy2.mpfr(int.from_bytes(os.urandom(16)) | 1)
    low, high = _precise.log(bits), _precise.log(bits)
    answer = ANSWER | {"id": secrets.token_hex(16), "at": AT, "value": float(low + high)}
    text, made = json.dumps(answer).encode(), answer["id"]
    answer_hash, question_hash = hashlib.sha256(text).digest(), hashlib.sha256(asked).digest()
    with _transaction() as sql:
        principal = sql.execute(f"SELECT role FROM principals WHERE key_hash = {_MARK}", (KEY_HASH,))
        known = sql.execute(f"SELECT release FROM answers_by_key WHERE key = {_MARK}", (idempotency_key,))
        account = sql.execute(
            "SELECT a.spent, a.seq, a.head, b.spent FROM accounts a JOIN allowances b ON b.dataset = a.dataset "
            f"WHERE a.dataset = {_MARK}{' FOR UPDATE' if ON_POSTGRES else ''}",
            (dataset,),
        )
        assert principal.fetchone()
        assert not known.fetchone()
        spent, seq, head, allowance = account.fetchone()
        entry = _seal(text[:300], head)
        rows = {
            "entries": (dataset, seq + 1, AT, made, answer_hash, head, entry),
            "releases": (made, dataset, AT, asked.decode(), zlib.compress(text, 1), _seal(text[:300])),
            "answers_by_key": (idempotency_key, question_hash, made),
            "candidates": (dataset, question_hash, made),
        }
        for table, row in rows.items():
            sql.execute(f"INSERT INTO {table} VALUES ({', '.join([_MARK] * len(row))})", row)
        sql.execute(
            f"UPDATE accounts SET spent = {_MARK}, seq = {_MARK}, head = {_MARK}, seal = {_MARK} "
            f"WHERE dataset = {_MARK}",
            (spent + 1, seq + 1, entry, _seal(entry), dataset),
        )
        sql.execute(
            f"UPDATE allowances SET spent = {_MARK}, seal = {_MARK} WHERE dataset = {_MARK}",
            (allowance + 1, _seal(entry), dataset),
        )
    return answer
