"""`snapledger dataset …`, as an owner at a terminal meets it."""

import hashlib
import io
import json
import os
import pty
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import command_line
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from service_world import Service, a_name

from snapledger_client import Client
from snapledger_client.cli import session

CSV = (
    b"age;height;kind;remark;member;day\n"
    + b"".join(
        b"%d;%d.5;%s;note %d;true;2026-01-02\n" % (20 + i, 150 + i % 40, b"ab"[i % 2 : i % 2 + 1], i)
        for i in range(300)
    )
    + b"NA;;;;false;\n"
)


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    done = command_line.run("dataset", *arguments, **settings)
    return subprocess.CompletedProcess(arguments, done.status, done.out, done.err)


def suggested(path: Path) -> tuple[dict[str, Any], str]:
    done = run("suggest", str(path))
    assert done.returncode == 0, done.stderr
    draft: dict[str, Any] = json.loads(done.stdout)
    return draft, done.stderr


@pytest.fixture
def owned(one_service: Service) -> dict[str, str]:
    _, owner = one_service.principal("owner")
    key = owner.headers["Authorization"].removeprefix("Bearer ")
    return {"URL": one_service.url, "KEY": key}


def test_a_draft_is_refused_until_everything_is_confirmed(owned: dict[str, str], tmp_path: Path) -> None:
    """Drafts the metadata for the owner to edit; it is refused until the owner has confirmed each."""
    path, schema = tmp_path / "My People.csv", tmp_path / "schema.json"
    path.write_bytes(CSV)
    draft, told = suggested(path)
    assert draft["name"] == "my-people"
    assert draft["columns"] == {
        "age": {"kind": "integer", "bounds": ["20", "319"], "unconfirmed": ["bounds"]},
        "height": {"kind": "real", "bounds": ["150.5", "189.5"], "unconfirmed": ["bounds"]},
        "kind": {"kind": "category", "categories": ["a", "b"], "unconfirmed": ["categories"]},
        "member": {"kind": "boolean"},
    }
    assert "3 of 4 columns" in told
    assert "remark, day" in told
    draft["name"] = a_name("people")
    for column in ("age", "height", "kind"):
        schema.write_text(json.dumps(draft))
        refused = run("add", str(path), "--schema", str(schema), **owned)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "unconfirmed" in refused.stderr
        draft["columns"][column]["unconfirmed"] = []
    schema.write_text(json.dumps(draft))
    done = run("add", str(path), "--schema", str(schema), **owned)
    assert done.returncode == 0, done.stderr
    assert "301 rows" in done.stdout
    assert hashlib.sha256(CSV).hexdigest() in done.stdout
    assert done.stderr == ""  # no progress where nobody watches


def test_a_draft_of_parquet(tmp_path: Path) -> None:
    table = pa.table(
        {
            "cents": pa.array([Decimal(1), Decimal(2)], pa.decimal128(9, 2)),
            "huge": pa.array([Decimal(1), Decimal(2)], pa.decimal128(38, 0)),
            "real": pa.array([2.5, 3.5]),
            'odd "name"': pa.array(["it's", 'a "b"']),
            "constant": pa.array([7, 7]),
            "empty": pa.array([None, None], pa.int32()),
            "list": pa.array([[1], [2]]),
            "day": pa.array([date(2020, 2, 29), date(2021, 1, 1)]),
            "midnight": pa.array([datetime(2020, 2, 29), datetime(2021, 1, 1)]),  # noqa: DTZ001
            "at": pa.array([0, 90 * 60], pa.timestamp("s", "Europe/Paris")),
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    path = tmp_path / "it's.parquet"
    path.write_bytes(file.getvalue())
    draft, told = suggested(path)
    assert draft["columns"] == {
        "cents": {"kind": "decimal", "scale": 2, "bounds": ["1.00", "2.00"], "unconfirmed": ["bounds"]},
        "huge": {"kind": "integer", "bounds": ["1", "2"], "unconfirmed": ["bounds"]},
        "real": {"kind": "real", "bounds": ["2.5", "3.5"], "unconfirmed": ["bounds"]},
        'odd "name"': {"kind": "category", "categories": ['a "b"', "it's"], "unconfirmed": ["categories"]},
        "day": {"kind": "date", "bounds": ["2020-02-29", "2021-01-01"], "unconfirmed": ["bounds"]},
        "midnight": {"kind": "date", "bounds": ["2020-02-29", "2021-01-01"], "unconfirmed": ["bounds"]},
        "at": {
            "kind": "timestamp",
            "time_zone": "UTC",
            "resolution": "minute",
            "bounds": ["1970-01-01T00:00:00", "1970-01-01T01:30:00"],
            "unconfirmed": ["bounds", "time_zone"],
        },
    }
    assert "constant, empty, list" in told


def test_what_cannot_be_drafted(tmp_path: Path) -> None:
    for name, content in (("a.csv", b""), ("b.parquet", b"PAR1 and nothing more"), ("c.csv", b"t\n2026-01-01\n")):
        (tmp_path / name).write_bytes(content)
        done = run("suggest", str(tmp_path / name))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("snapledger: ")
        assert "Traceback" not in done.stderr
    assert run("suggest", str(tmp_path / "nowhere")).returncode == 2


HEAD = b"age;kind\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            HEAD + b"1;a\n2\n3;a;b\n",
            "line 3: has 1 fields where the header has 2; line 4: has 3 fields where the header has 2",
        ),
        (HEAD + b"1,a\n2,b\n", "lines 2 and 3: has 1 fields where the header has 2"),
        (b"age\n1,a\n2,b\n", "lines 2 and 3: has 2 fields where the header has 1"),
        (b'age,kind\n1,"a\nb"\n2\n', "line 4: has 1 fields where the header has 2"),
        (b'age,kind\n1,a\n2,"b\n', "line 3: is malformed from here on"),
        (HEAD + b'1;"a\n2;b\n', "line 2: is malformed from here on"),
        (HEAD + b"1;\xff\n2;a\n2;a;b", "line 4: has 3 fields where the header has 2"),
        (b"34;F\n35;M\n", "its first line has values like the lines below it"),
        (b"name;F\nx;M\nname;M\nx;F\n", "its first line has values like the lines below it"),
    ],
)
def test_rows_of_other_widths_are_not_drafted(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    done = run("suggest", str(tmp_path / "t.csv"))
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_every_delimiter_of_an_upload_is_drafted(tmp_path: Path, delimiter: str) -> None:
    rows = (("age", '"a,b;c|d"'), ("1", "# a"), ("", ""), ("3", '"a ""b"""'))
    text = "\ufeff" + "\r\n\r\n".join(delimiter.join(row) for row in rows)
    (tmp_path / "t.csv").write_text(text, newline="")
    assert suggested(tmp_path / "t.csv")[0]["columns"] == {
        "age": {"kind": "integer", "bounds": ["1", "3"], "unconfirmed": ["bounds"]},
        "a,b;c|d": {"kind": "category", "categories": ["# a", 'a "b"'], "unconfirmed": ["categories"]},
    }


@pytest.mark.slow
def test_an_upload_shows_its_progress_to_a_terminal(owned: dict[str, str], tmp_path: Path) -> None:
    path, schema = tmp_path / "t.csv", tmp_path / "schema.json"
    path.write_bytes(b"x\n1\n2\n")
    columns = {"x": {"kind": "integer", "bounds": [0, 9]}}
    schema.write_text(json.dumps({"name": a_name("t"), "epsilon_limit": 1, "columns": columns}))
    ours, theirs = pty.openpty()
    try:
        settings = {f"SNAPLEDGER_{name}": value for name, value in owned.items()}
        command = [
            sys.executable,
            "-m",
            "app.cli.service_commands",
            "dataset",
            "add",
            str(path),
            "--schema",
            str(schema),
        ]
        environment = os.environ | settings | {"TERM": "xterm"}
        subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=theirs, check=True)  # noqa: S603
        assert b"uploading" in os.read(ours, 65_536)
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_table_goes_where_the_owner_has_signed_in(
    owned: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = tmp_path / ".config/snapledger/credentials.json"
    stored.parent.mkdir(parents=True)
    stored.write_text(json.dumps({"url": owned["URL"], "key": owned["KEY"]}))
    monkeypatch.setenv("HOME", str(tmp_path))
    path, schema = tmp_path / "t.csv", tmp_path / "schema.json"
    path.write_bytes(b"x\n1\n2\n")
    columns = {"x": {"kind": "integer", "bounds": [0, 9]}}
    schema.write_text(json.dumps({"name": a_name("t"), "epsilon_limit": 1, "columns": columns}))
    done = run("add", str(path), "--schema", str(schema))
    assert (done.returncode, "is registered: 2 rows" in done.stdout) == (0, True), done.stderr


def test_what_is_wrong_with_a_file_is_told(
    owned: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # where nobody has signed in
    monkeypatch.setattr(session, "Client", partial(Client, backoff=0.001))
    path, schema = tmp_path / "t.csv", tmp_path / "schema.json"
    path.write_bytes(b"x\n1\nhello\n")
    metadata = {"name": a_name("t"), "epsilon_limit": 1, "columns": {"x": {"kind": "integer", "bounds": [0, 9]}}}
    schema.write_text(json.dumps(metadata))
    done = run("add", str(path), "--schema", str(schema), **owned)
    assert done.returncode == 2
    assert "line 3, column x: is not a number" in done.stderr
    assert "hello" not in done.stderr
    wrong_column = {"x": {"kind": "boolean"}, "the height": {"kind": "integer"}}
    schema.write_text(json.dumps(metadata | {"columns": wrong_column}))
    done = run("add", str(path), "--schema", str(schema), **owned)
    told = "columns.the height.bounds: is missing (column 2 of 2)"
    assert done.stderr == f"snapledger: The request is not valid.\n  {told}\n"
    schema.write_text("[]")
    assert run("add", str(path), "--schema", str(schema), **owned).returncode == 2
    schema.write_text("{")
    assert "not valid JSON" in run("add", str(path), "--schema", str(schema), **owned).stderr
    without = run("add", str(path), "--schema", str(schema), URL=owned["URL"])
    assert (without.returncode, "SNAPLEDGER_KEY" in without.stderr) == (4, True)
    away = run("add", str(path), "--schema", str(schema), URL="http://127.0.0.1:1", KEY=owned["KEY"])
    assert (away.returncode, "was not answered" in away.stderr) == (6, True)
    assert owned["KEY"] not in away.stderr
    wrong = run("add", str(path), "--schema", str(schema), URL=owned["URL"], KEY="wrong")
    assert (wrong.returncode, "snapledger: No valid key" in wrong.stderr) == (4, True)
    assert "snapledger login" in wrong.stderr
    assert "header" not in wrong.stderr
    schema.write_text(json.dumps(metadata))
    path.write_bytes(b"x\n1\n2\n")
    assert run("add", str(path), "--schema", str(schema), **owned).returncode == 0
    assert run("add", str(path), "--schema", str(schema), **owned).returncode == 7  # the name is taken


def test_a_file_without_a_header_is_drafted_with_numbered_names(owned: dict[str, str], tmp_path: Path) -> None:
    path, schema = tmp_path / "t.csv", tmp_path / "t.json"
    path.write_bytes("1,5;Orléans\n2,5;Tours\n".encode("cp1252"))
    done = run("suggest", str(path), "--no-header")
    draft = json.loads(done.stdout)
    assert draft["delimiter"] == ";"
    assert draft["format"] == {"encoding": "windows-1252", "decimal": ",", "column_names": ["column_1", "column_2"]}
    assert "Check in `format` how the file is read: encoding 'windows-1252', decimal ','." in done.stderr
    draft["name"] = a_name("people")
    for column in draft["columns"].values():
        column["unconfirmed"] = []
    schema.write_text(json.dumps(draft))
    assert "2 rows" in run("add", str(path), "--schema", str(schema), **owned).stdout
    named = run("suggest", str(path), "--header-row", "1")
    assert named.returncode == 0
    assert run("suggest", str(path), "--header-row", "1", "--no-header").returncode == 2


def test_what_an_upload_does_not_take_for_a_boolean_is_drafted_as_a_category(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(b"remote,member,code\nyes,TRUE,1\nno,false,0\n")
    assert suggested(path)[0]["columns"] == {
        "remote": {"kind": "category", "categories": ["no", "yes"], "unconfirmed": ["categories"]},
        "member": {"kind": "boolean"},
        "code": {"kind": "integer", "bounds": ["0", "1"], "unconfirmed": ["bounds"]},
    }


def test_where_there_is_no_ledger_its_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "var" / "ledger.sqlite3"
    done = command_line.run("ledger", "verify", DATABASE_URL=f"sqlite:///{path}", DATA_DIR=str(tmp_path))
    assert done.status == 1
    assert f"there is no ledger at {path}" in done.err
    assert not path.parent.exists()


def test_a_wrong_connection_is_told_without_its_url() -> None:
    done = command_line.run("migrate", CONNECTION_LAKE="mysql://u:secret@h/d")
    assert done.status == 1
    assert "SNAPLEDGER_CONNECTION_LAKE" in done.err
    assert "secret" not in done.err
