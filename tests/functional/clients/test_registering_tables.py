"""`Client.register` and `snapledger dataset add` take streams, pipes and data frames."""

import gzip
import io
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import command_line
import httpx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from service_world import Service, a_name

from snapledger_client import Client, calls, mean, uploads
from snapledger_client.retries import RetryPolicy

COLUMNS = {"x": {"kind": "integer", "bounds": [0, 9]}, "t": {"kind": "category", "categories": ["a", "b"]}}
CSV = b"x,t\n" + b"".join(b"%d,%s\n" % (i % 10, b"ab"[i % 2 : i % 2 + 1]) for i in range(50_000))
FRAME = pd.DataFrame({"x": np.arange(50_000) % 10, "t": np.tile(["a", "b"], 25_000)}, index=range(7, 50_007))


@contextmanager
def pipe(tmp_path: Path) -> Iterator[Any]:
    read, write = os.pipe()

    def fill() -> None:
        with os.fdopen(write, "wb") as end:
            end.write(CSV)

    threading.Thread(target=fill).start()
    with os.fdopen(read, "rb") as end:
        yield end


@contextmanager
def zipped(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(CSV))
    with gzip.open(tmp_path / "t.csv.gz") as file:
        yield file


@contextmanager
def text(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "t.csv").write_bytes(CSV)
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        yield file


@contextmanager
def just(table: Any) -> Iterator[Any]:
    yield table


TABLES: dict[str, Callable[[Path], Any]] = {
    "pipe": pipe,
    "gzip": zipped,
    "text file": text,
    "StringIO": lambda _: just(io.StringIO(CSV.decode())),
    "pandas": lambda _: just(FRAME),
    "Arrow": lambda _: just(pa.Table.from_pandas(FRAME, preserve_index=False)),
    "long texts": lambda _: just(pa.table({"x": pa.array(FRAME.x), "t": pa.array(FRAME.t, pa.large_string())})),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_registered_as_it_is(one_service: Service, tmp_path: Path, kind: str) -> None:
    _, owner = one_service.principal("owner")
    key, sent = owner.headers["Authorization"].removeprefix("Bearer "), []
    with Client(one_service.url, key) as client, TABLES[kind](tmp_path) as table:
        facts = client.register({"name": a_name("t"), "epsilon_limit": 1, "columns": COLUMNS}, table, sent.append)
    assert facts.n == 50_000
    if kind not in {"pandas", "Arrow", "long texts"}:
        assert sum(sent) == len(CSV)
    assert max(sent) <= 2**16  # in pieces


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TypeError, match="not dict"), uploads.open_table({"x": [1]}):  # type: ignore[arg-type]
        pass


def test_the_length_is_sent_where_it_is_known(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(CSV)
    with (tmp_path / "t.csv").open("rb") as file:
        for known in (CSV, io.BytesIO(CSV), file):
            with uploads.open_table(known) as stream:
                files = calls.register_dataset({}, stream).files
                headers = httpx.Request("POST", "http://h", files=files).headers
            assert int(headers["Content-Length"]) > len(CSV)
            assert "Transfer-Encoding" not in headers
    with zipped(tmp_path) as file, uploads.open_table(file) as stream:
        files = calls.register_dataset({}, stream).files
        assert "Content-Length" not in httpx.Request("POST", "http://h", files=files).headers


def test_an_upload_from_a_pipe_is_not_sent_twice(tmp_path: Path) -> None:
    policy, lost = RetryPolicy(6, 0.1), httpx.ConnectTimeout("")
    with pipe(tmp_path) as end, uploads.open_table(end) as stream:
        assert policy.find_pause(calls.register_dataset({}, stream), 0, lost) is None
        stream.read()
    with uploads.open_table(CSV) as stream:
        assert policy.find_pause(calls.register_dataset({}, stream), 0, lost) is not None


def test_the_command_reads_pipes(one_service: Service, tmp_path: Path) -> None:
    _, owner = one_service.principal("owner")
    key = owner.headers["Authorization"].removeprefix("Bearer ")
    document = {"name": a_name("t"), "epsilon_limit": 1, "columns": COLUMNS}
    for name, content in (("table", CSV), ("schema", json.dumps(document).encode())):
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_bytes, args=(content,)).start()
    paths = str(tmp_path / "table"), "--schema", str(tmp_path / "schema")
    done = command_line.run("dataset", "add", *paths, URL=one_service.url, KEY=key)
    assert (done.status, "50,000 rows" in done.out) == (0, True), done.err


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (np.int64(3), "3"),
        (np.float32("0.1"), "0.1"),
        (np.float64("0.1"), "0.1"),
        (pd.Series([7])[0], "7"),
        (np.array([1, 2])[1], "2"),
    ],
)
def test_a_number_of_numpy_is_its_decimal(number: Any, expected: str) -> None:
    assert mean("x", (0, number))["bounds"] == ["0", expected]


@pytest.mark.parametrize("number", [np.bool_(True), np.float64("nan"), pd.NA, np.array([1, 2])])  # noqa: FBT003
def test_what_is_no_number_is_refused(number: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="number must be"):
        mean("x", (0, number))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array(["a", "b"]), ["a", "b"]),
        (pd.Series([1, 2]), [1, 2]),
        (np.array([0.1], "float32"), ["0.1"]),
        (np.bool_(True), True),  # noqa: FBT003
        (np.array(5), 5),
        (Decimal("0.10"), "0.10"),
        (pd.Index([True]), [True]),
    ],
)
def test_filters_take_arrays(value: Any, expected: Any) -> None:
    call = calls.release_estimate("d", {"kind": "count", "where": {"x": {"in": value}}}, epsilon=np.float64(1))
    assert json.loads(call.body or b"")["statistic"]["where"]["x"]["in"] == expected
