"""Uploads that are meant to hurt: a 4xx, no file, no row; and names of any kind that are only names."""

import gzip
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from service_world import UPLOAD_LIMIT_BYTES, X_COLUMNS, Service, a_name

MARK = "nobody-may-see-this"
METADATA = json.dumps({"name": "the-name", "epsilon_limit": 1, "columns": X_COLUMNS})
NAMES = [
    *(
        '"',
        "'",
        "`",
        "\\",
        ";",
        "--",
        "/*",
        "%",
        "{",
        "}",
        "$1",
        "?",
        ":x",
        "*",
        "''",
        '""',
        " ",
        ".",
        "/",
        "../x",
        "~",
    ),
    *(
        "x",
        "X",
        "\u017f",
        "\u0131",
        "e\u0301",
        "\u00e9",
        "\u202e\u2066",
        "\ufeff",
        "\u2028",
        "\U0001f427",
        "\ufffd",
        "\uffff",
    ),
    *(
        "NULL",
        "select",
        "kind",
        "columns",
        "true",
        "1",
        "0x1",
        "x" * 255,
        "\U0001f427" * 255,
        "c78",
        "x'; DROP TABLE accounts; --",
    ),
]


def parquet(table: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def claiming_two_gibibytes() -> bytes:
    """A Parquet of a page that claims this size; what its header grows by is taken from the checksum."""
    whole = parquet(pa.table({"x": list(range(1000))}), use_dictionary=False, write_page_checksum=True)
    number = rb"\x15([\x80-\xff]*[\x00-\x7f])"
    found = re.match(rb"PAR1\x15\x00" + number * 3, whole)
    assert found
    header = b"PAR1\x15\x00" + b"\x15\xfe\xff\xff\xff\x0f" + b"\x15" + found[2] + b"\x15"
    return header + b"\x80" * (found.end() - len(header) - 1) + b"\x01" + whole[found.end() :]


NUMBERS = parquet(pa.table({"x": list(range(1000))}))
FILES = {
    "no file": b"",
    "only a header": b"x\n",
    "one row": b"x\n1\n",
    "rows of different widths": b"x,y\n1,2\n3\n4,5\n",
    "a text among numbers": b"x\n1\n2\nthree\n",
    "decimals among whole numbers": b"x\n1\n2.5\n",
    "without a declared column": b"y\n1\n2\n3\n",
    "only a mark": b"\xef\xbb\xbf",
    "Windows-1252": "x,t\n1,caf\u00e9\n2,b\n".encode("cp1252"),
    "half a character of UTF-16": "x\n1\n2\n".encode("utf-16")[:-1],
    "NUL": b"x\n1\x00\n2\n",
    "a bare carriage return": b"x\n1\r2\n3\n",
    "an open quote": b'x\n1\n"2\n' + b"3\n" * 100_000,
    "one line of megabytes": b"x," * 5_000_000,
    "a field of megabytes": b'x\n"' + b"1" * 5_000_000 + b'"\n2\n',
    "a number of megabytes": b"x\n" + b"1" * 100_000 + b"\n2\n",
    "an exponent": b"x\n1e999999999\n2\n",
    "digits of another script": "x\n\u0663\n2\n".encode(),
    "underscores": b"x\n1_0\n2\n",
    "a column twice": b"x,x\n1,2\n3,4\n",
    "gzip cut short": gzip.compress(b"x\n1\n2\n")[:-8],
    "zip": b"PK\x03\x04" + b"\x00" * 100,
    "only magic": b"PAR1",
    "only magics": b"PAR1PAR1",
    "encrypted": b"PARE" + NUMBERS[4:-4] + b"PARE",
    "a Parquet cut short": NUMBERS[: len(NUMBERS) // 2],
    "a Parquet without its end": NUMBERS[:-4],
    "a Parquet with a wrong footer": NUMBERS[:-8] + b"\xff\xff\xff\x7fPAR1",
    "nested": parquet(pa.table({"x": [[1], [2]]})),
    "a struct": parquet(pa.table({"x": [{"x": 1}, {"x": 2}]})),
    "a map": parquet(pa.table({"x": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64()))})),
    "bytes": parquet(pa.table({"x": [b"1", b"2"]})),
    "times": parquet(pa.table({"x": pa.array([1, 2], pa.timestamp("ns"))})),
    "texts": parquet(pa.table({"x": ["1", "2"]})),
    "beyond int64": parquet(pa.table({"x": pa.array([1, 2**64 - 1], pa.uint64())})),
    "infinite": parquet(pa.table({"x": [1.0, float("inf")]})),
    "a Parquet with a column twice": parquet(pa.Table.from_arrays([pa.array([1, 2])] * 2, names=["x", "x"])),
    "a Parquet of one row": parquet(pa.table({"x": [1]})),
    "too large": b"x\n" + b"1\n" * (UPLOAD_LIMIT_BYTES // 2),
}


@pytest.fixture
def owner(one_service: Service) -> httpx.Client:
    return one_service.principal("owner")[1]


@pytest.mark.parametrize("content", FILES.values(), ids=FILES.keys())
def test_a_file_that_is_none(one_service: Service, owner: httpx.Client, content: bytes) -> None:
    before = one_service.resident_bytes()
    with one_service.unchanged():
        answer = one_service.upload(owner, METADATA.replace("the-name", a_name("never")), content)
        if len(content) > UPLOAD_LIMIT_BYTES:
            assert answer.status_code == 413
        else:
            assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")
            assert answer.json()["errors"][0]["what"]
    assert len(answer.content) < 5_000
    assert "three" not in answer.text
    assert one_service.resident_bytes() - before < 2**28


@pytest.mark.parametrize(
    "damage", [pytest.param(place, id=str(place)) for place in range(0, len(NUMBERS), max(1, len(NUMBERS) // 60))]
)
def test_a_damaged_parquet(one_service: Service, owner: httpx.Client, damage: int) -> None:
    """A byte changed anywhere: a 422, or a table as good as any; never the end of the process."""
    content = bytearray(NUMBERS)
    content[damage] ^= 0xFF
    answer = one_service.upload(owner, METADATA.replace("the-name", a_name("damaged")), bytes(content))
    assert answer.status_code in {201, 422}


def test_an_upload_that_expands_a_thousandfold(one_service: Service, owner: httpx.Client) -> None:
    """Small files of many equal values are read in pieces: memory stays bounded."""
    rows = 1_000_000
    content = parquet(pa.table({"x": pa.array([7] * rows, pa.int64())}), row_group_size=rows)
    assert len(content) * 1000 < rows * 8
    before = one_service.resident_bytes()
    answer = one_service.upload(owner, METADATA.replace("the-name", a_name("bomb")), content)
    assert answer.status_code in {201, 413, 422}
    assert one_service.resident_bytes() - before < 2**28
    long_texts = pa.DictionaryArray.from_arrays([0] * 10_000, ["long " * 100_000])
    content = parquet(pa.table({"x": long_texts}))
    columns = {"x": {"kind": "category", "categories": ["a"]}}
    metadata = json.dumps({"name": a_name("never"), "epsilon_limit": 1, "columns": columns})
    with one_service.unchanged():
        assert one_service.upload(owner, metadata, content).status_code == 422
    assert one_service.resident_bytes() - before < 2**28


def test_pages_that_claim_gibibytes(one_service: Service, owner: httpx.Client) -> None:
    with one_service.unchanged():
        answer = one_service.upload(owner, METADATA.replace("the-name", a_name("never")), claiming_two_gibibytes())
    assert answer.status_code == 422
    assert "pages that are too large" in answer.json()["errors"][0]["what"]


def test_five_thousand_columns(one_service: Service, owner: httpx.Client) -> None:
    columns = {f"c{i}": {"kind": "integer", "bounds": [0, 9]} for i in range(5_000)}
    content = ",".join(columns) + "\n" + 2 * (",".join(["1"] * 5_000) + "\n")
    metadata = {"name": a_name("wide"), "epsilon_limit": 1, "columns": columns}
    assert one_service.upload(owner, metadata, content.encode()).status_code == 201
    with one_service.unchanged():
        columns["one more"] = {"kind": "boolean"}
        assert one_service.upload(owner, metadata | {"name": a_name("never")}, content.encode()).status_code == 422


def csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def test_names_are_only_names(service: Service) -> None:
    """Column names: 1 to 255 characters, no control characters or surrogates. Each is counted by itself."""
    columns: dict[str, Any] = {name: {"kind": "integer", "bounds": [0, 1000]} for name in NAMES}
    values = ",".join(str(10 * place) for place in range(len(NAMES)))
    content = ",".join(map(csv_field, NAMES)) + f"\n{values}\n{values}\n"
    table = service.table(columns, content, limit="100000", allowance="100000")
    assert list(table.owner.get(table.path).json()["columns"]) == NAMES
    for place, name in enumerate(NAMES):
        answer = table.fresh({"kind": "mean", "column": name}, epsilon=1000, alpha="1e-9")
        assert abs(answer["value"] - 10 * place) <= answer["accuracy"]["radius"]
        assert answer["statistic"]["column"] == name
    pair = {"kind": "covariance", "columns": ["x", "X"]}
    assert table.release(pair, epsilon=1).status_code == 201


def test_categories_are_only_texts(service: Service) -> None:
    categories = [name for name in NAMES if name != "NULL"]
    columns = {"t": {"kind": "category", "categories": categories}}
    rows = [category for place, category in enumerate(categories) for _ in range(place + 1)]
    content = "t,u\n" + "".join(f"{csv_field(row)},1\n" for row in [*rows, "another", "NA"])
    table = service.table(columns, content, limit="100000", allowance="100000")
    answer = table.fresh({"kind": "histogram", "column": "t"}, epsilon=1000, alpha="1e-9")
    assert [round(value) for value in answer["value"]] == [*range(1, len(categories) + 1), 1, 1]
    assert [one["label"] for one in answer["bins"]] == [*categories, "other", "missing"]


@pytest.mark.slow
def test_of_many_uploads_of_one_name_one_stays(service: Service) -> None:
    _, owner = service.principal("owner")
    metadata = METADATA.replace("the-name", a_name("contested"))
    before = len(list(service.data.glob("*.parquet")))

    def upload(_: int) -> int:
        while (status := service.upload(owner, metadata, b"x\n" + b"1\n" * 20_000).status_code) == 503:
            pass  # a slow machine had no place for it in time
        return status

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(upload, range(8))) == [201] + [409] * 7
    assert len(list(service.data.glob("*.parquet"))) == before + 1
