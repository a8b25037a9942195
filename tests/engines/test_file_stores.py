"""Tables of Parquet files in directories, on HTTPS servers and in buckets: their sums, and what they cannot reach."""

import io
import os
import posixpath
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from file_server import SECRET, FileServer, make_certificate, serve_files
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import ColumnSums, Moments
from app.engines.errors import EngineFailure, InvalidFile, StaleTable
from app.engines.file_stores.file_store import MAX_FILES, StoredFile, parse_file_path, select_table_files
from app.engines.file_stores.s3_signature import Credentials, sign_request
from app.engines.ingest import Units
from app.engines.storage.connections import TableOrigin
from app.engines.storage.file_tables import CopyLimits
from app.engines.storage.tables import Tables

X = Column("x", Kind.INTEGER, (mpq(0), mpq(100)))
SUM_OF_X = ColumnSums("x", codes_for(X, None))


def parquet(*values: int | None, **others: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"x": pa.array(values, pa.int64())} | others), file)
    return file.getvalue()


class Place(NamedTuple):
    """A store with a prefix, as its operator and its owner see it."""

    tables: Tables
    put: Callable[[str, bytes], None]
    server: FileServer
    root: Path

    def take(self, name: str, *, live: bool = False, units: Units | None = None) -> str:
        file_id = self.tables.intake.ingest_from(TableOrigin("place", name, live), [X], units).file_id
        self.tables.mark_registered(file_id)
        return file_id

    def refusal(self, name: str, *, live: bool = False, units: Units | None = None) -> str:
        directory = self.tables._directory
        before = sorted(directory.iterdir())
        with pytest.raises(InvalidFile) as caught:
            self.tables.intake.ingest_from(TableOrigin("place", name, live), [X], units)
        assert sorted(directory.iterdir()) == before
        assert not list(self.tables._engine.scratch.iterdir())
        return str(caught.value)

    def is_stale(self, file_id: str, name: str) -> bool:
        return self.tables.is_stale(file_id, TableOrigin("place", name, live=True), [X], None)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def local(tmp_path: Path) -> Place:
    root = tmp_path / "in" / "side"
    root.mkdir(parents=True)

    def put(name: str, content: bytes) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
        os.utime(root / name, ns=(0, sum(content)))  # as an entity tag

    tables = Tables(tmp_path / "data", connections={"place": root.as_uri()})
    return Place(tables, put, FileServer(), root)


@pytest.fixture(params=["local", "https", "s3"])
def place(request: Any, tmp_path: Path, certificate: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    if request.param == "local":
        found = local(tmp_path)
        yield found
        found.tables.close()
        return
    trusted, context = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with serve_files(context if request.param == "https" else None) as server:
        tables = Tables(tmp_path / "data", connections={"place": server.connection})
        yield Place(tables, server.put, server, tmp_path)
        tables.close()


only = pytest.mark.parametrize
directories = only("place", ["local", "s3"], indirect=True)


@only("live", [False, True])
@only("name", ["one.parquet", "a b/ä+&=;.parquet", "a/b/c/ONE.PARQUET"])
def test_a_file_gives_the_sums_of_an_upload(place: Place, name: str, live) -> None:
    place.put(name, parquet(1, 2, 3))
    place.put("two.parquet", parquet(7, 7))
    assert place.tables.sums(place.take(name, live=live), SUM_OF_X) == Moments(3, 6, 14)


@only("live", [False, True])
@directories
def test_the_files_of_a_directory_are_one_table(place: Place, live) -> None:
    place.put("people/sex=F/b.parquet", parquet(3, who=["a"]))
    place.put("people/sex=M/a.parquet", parquet(1, 2, who=["a", "b"]))
    place.put("people/_SUCCESS", b"")
    place.put("people/_temporary/0/a.parquet", parquet(9, 9))
    place.put("people/.a.parquet.crc", b"crc")
    place.put("people2/a.parquet", parquet(9, 9))
    assert place.tables.sums(place.take("people", live=live), SUM_OF_X) == Moments(3, 6, 14)
    assert place.tables.sums(place.take("people/", live=live), SUM_OF_X) == Moments(3, 6, 14)
    told = place.refusal("people", live=live, units=Units("who", 1))  # counted over all files
    assert told.startswith("column who: 1 unit has more than 1 rows")
    assert "column sex: is missing" in place.refusal("people", live=live, units=Units("sex", 1))


@only("encodes", [True, False])
@directories
def test_names_of_files_may_have_any_character(place: Place, encodes) -> None:
    place.server.encodes = encodes
    for i, name in enumerate(("a b+c.parquet", "sex=F/ä%20&.parquet", "100%.parquet", "<x>.parquet")):
        place.put(f"odd t/{name}", parquet(i))
    assert place.tables.sums(place.take("odd t", live=True), SUM_OF_X) == Moments(4, 6, 14)


@directories
def test_what_is_wrong_in_a_file_is_told_with_its_name(place: Place) -> None:
    place.put("t/a.parquet", parquet(1, 2))
    place.put("t/b.parquet", b"PAR1 but no more")
    assert place.refusal("t").startswith("file t/b.parquet: is not a readable Parquet file")
    place.put("t/b.parquet", b"x\n1\n")
    assert place.refusal("t") == "file t/b.parquet: is not a Parquet file, as all files of the table must be"
    place.put("t/b.parquet", parquet(3, y=[1]))
    assert place.refusal("t") == "file t/b.parquet: has other columns than the first file: it also has `y`"
    place.put("t/a.parquet", parquet(1, 2, y=[1, 2], z=[1, 2]))
    assert place.refusal("t") == "file t/b.parquet: has other columns than the first file: it lacks `z`"
    place.put("t/b.parquet", parquet(3, y=[1], z=[None]))
    assert place.tables.sums(place.take("t"), SUM_OF_X) == Moments(3, 6, 14)  # the type of `z` does not matter
    file = io.BytesIO()
    pq.write_table(pa.table({"x": [1.5], "y": [1], "z": [1]}), file)
    place.put("t/b.parquet", file.getvalue())
    assert place.refusal("t") == "file t/b.parquet, column x: is double, and int64 in the first file"
    place.put("t/notes.txt", b"")
    assert "name a directory of Parquet files only" in place.refusal("t")
    place.put("delta/a.parquet", parquet(1, 2))
    place.put("delta/_delta_log/0.json", b"{}")
    assert "is a Delta table, whose files may also have rows that were deleted" in place.refusal("delta")
    place.put("spark.parquet/part-0.snappy.parquet", parquet(1, 2))  # a directory, as Spark writes it
    assert place.tables.sums(place.take("spark.parquet", live=True), SUM_OF_X) == Moments(2, 3, 5)


PATHS = [
    "/etc/passwd",
    "/one.parquet",
    "../outside.parquet",
    "a/../../outside.parquet",
    "a/../one.parquet",
    "..",
    ".",
    "./one.parquet",
    "a//one.parquet",
    "//127.0.0.1/one.parquet",
    ".hidden/one.parquet",
    "..;/outside.parquet",
    "%2e%2e/outside.parquet",
    "..%2foutside.parquet",
    "..\\outside.parquet",
    "*.parquet",
    "a/**",
    "one.parque[t]",
    "{one,two}.parquet",
    "one.parquet?x=1",
    "one.parquet#x",
    "one.parquet\r\nHost: elsewhere",
    "a\x00.parquet",
    "s3://tables/in/side/one.parquet",
    "https://127.0.0.1/one.parquet",
    "file:///etc/passwd",
    "@127.0.0.1/ /x.parquet",
]


def test_no_path_leads_out_of_the_prefix(place: Place) -> None:
    place.put("one.parquet", parquet(1, 2))
    for path in PATHS:
        assert "must be the path of a file or directory" in place.refusal(path), path
    assert place.server.asked == []
    for path in ("outside.parquet", "two", "one", "one.parquet/two.parquet", "x" * 255):
        assert "does not exist" in place.refusal(path) or "must be one file" in place.refusal(path), path
    assert all("in/side/" in asked.replace("%2F", "/") for asked in place.server.asked)


@pytest.mark.slow
@given(st.one_of(st.text(max_size=20), st.text("./\\\\%25eEfF;:?*#@a\u2025\uff0e\x00 ", max_size=12)))
def test_a_path_that_is_taken_means_itself_however_a_server_reads_it(path: str) -> None:
    try:
        names = parse_file_path(path)
    except InvalidFile:
        return
    sent = quote("/".join(names), safe="/")
    for read in (sent, unquote(sent), unquote(unquote(sent)), unquote(unquote(unquote(sent)))):
        assert posixpath.normpath(f"/in/side/{read}") == f"/in/side/{read}"
    assert urlsplit(f"https://host/in/side/{sent}")[:3] == ("https", "host", f"/in/side/{sent}")


def test_links_and_other_files_of_a_directory_are_not_read(tmp_path: Path) -> None:
    place = local(tmp_path)
    place.put("a/one.parquet", parquet(1, 2))
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "two.parquet").write_bytes(parquet(1, 2))
    (place.root / "linked").symlink_to(tmp_path / "outside")
    (place.root / "two.parquet").symlink_to(tmp_path / "outside" / "two.parquet")
    os.mkfifo(place.root / "pipe.parquet")
    for path in ("linked", "linked/two.parquet", "two.parquet"):
        assert "has a symbolic link in it" in place.refusal(path) or path == "linked/two.parquet"
    assert "does not exist" in place.refusal("pipe.parquet")
    for link, target in (("inner", tmp_path / "outside"), ("two.parquet", tmp_path / "outside" / "two.parquet")):
        (place.root / "a" / link).symlink_to(target)
        assert "has a symbolic link in it" in place.refusal("a")
        (place.root / "a" / link).unlink()
    assert place.tables.sums(place.take("a"), SUM_OF_X) == Moments(2, 3, 5)
    place.tables.close()


def test_a_file_that_was_exchanged_for_a_link_is_not_read(tmp_path: Path) -> None:
    place = local(tmp_path)
    place.put("one.parquet", parquet(1, 2))
    store = place.tables._sources.find_store("place")
    assert store is not None
    (found,) = store.find_files(("one.parquet",))
    (place.root / "one.parquet").rename(tmp_path / "one.parquet")
    (place.root / "one.parquet").symlink_to(tmp_path / "one.parquet")
    with pytest.raises(InvalidFile, match="symbolic link"), store.open(found):
        pass
    place.tables.close()


def test_a_change_of_a_live_file_is_noticed_and_undone(place: Place) -> None:
    place.put("one.parquet", parquet(1, 2, 3))
    copied, live = place.take("one.parquet"), place.take("one.parquet", live=True)
    assert not place.is_stale(live, "one.parquet")
    assert place.tables.sums(live, SUM_OF_X) == Moments(3, 6, 14)
    assert not place.tables.are_known(live, SUM_OF_X)  # whether it may be told is asked each time
    place.put("one.parquet", parquet(1, 2, 4))  # of the same size
    with pytest.raises(StaleTable):
        place.tables.sums(live, SUM_OF_X)
    assert place.is_stale(live, "one.parquet")
    place.put("one.parquet", parquet(1, 2, 3))
    assert not place.is_stale(live, "one.parquet")
    assert place.tables.sums(live, SUM_OF_X) == Moments(3, 6, 14)
    assert place.tables.sums(copied, SUM_OF_X) == Moments(3, 6, 14)


@directories
def test_a_file_more_or_less_makes_a_live_table_stale(place: Place) -> None:
    for name in ("t/a.parquet", "t/b.parquet", "t/c.parquet"):
        place.put(name, parquet(1))
    live = place.take("t", live=True)
    assert place.tables.sums(live, SUM_OF_X) == Moments(3, 3, 3)
    place.put("t/d.parquet", parquet(1))
    with pytest.raises(StaleTable):
        place.tables.sums(live, SUM_OF_X)
    for name in ("t/d.parquet", "t/a.parquet"):
        place.server.files.pop(f"in/side/{name}", None)
        (place.root / name).unlink(missing_ok=True)
        assert place.is_stale(live, "t") == (name == "t/a.parquet")


remote = only("place", ["https", "s3"], indirect=True)


@remote
@only(
    ("status", "headers", "told"),
    [
        (302, {"Location": "{elsewhere}"}, "to which its server redirects and which is not followed"),
        (307, {"Location": "/in/side/two.parquet"}, "to which its server redirects and which is not followed"),
        (301, {}, "to which its server redirects and which is not followed"),
        (401, {}, "the connection may not read it"),
        (403, {}, "the connection may not read it"),
        (404, {}, None),
        (200, {"Content-Encoding": "gzip"}, "no known size"),
        (500, {}, None),
        (503, {}, None),
        (418, {}, None),
    ],
)
def test_no_answer_of_a_server_leads_elsewhere_or_costs_anything(
    place: Place, status: int, headers: dict[str, str], told: str | None
) -> None:
    place.put("one.parquet", parquet(1, 2))
    live = place.take("one.parquet", live=True)
    with serve_files() as elsewhere:
        elsewhere.files["two.parquet"] = parquet(7, 7)
        headers = {name: value.format(elsewhere=elsewhere.url + "/two.parquet") for name, value in headers.items()}
        place.server.answers["in/side/one.parquet"] = status, headers
        if told is not None:
            assert told in place.refusal("one.parquet")
        elif status == 404:
            assert "does not exist" in place.refusal("one.parquet")
        else:
            with pytest.raises(EngineFailure):
                place.take("one.parquet")
        with pytest.raises(StaleTable if status == 404 else EngineFailure):  # `told` is for the owner alone
            place.tables.sums(live, SUM_OF_X)
        assert elsewhere.asked == []
    place.server.answers.clear()
    assert place.tables.sums(live, SUM_OF_X) == Moments(2, 3, 5)


@remote
def test_a_server_that_is_away_tells_nothing(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.put("one.parquet", parquet(1, 2))
    live = place.take("one.parquet", live=True)
    place.tables._sources.close()
    for path in place.tables._directory.glob("*.json"):
        assert SECRET not in path.read_text()
    away = place.server.connection.replace(place.server.url.rpartition(":")[2], "1")
    tables = Tables(place.tables._directory, connections={"place": away})
    for asked in (
        lambda: tables.sums(live, SUM_OF_X),
        lambda: tables.intake.ingest_from(TableOrigin("place", "t", live=True), [X]),
    ):
        with pytest.raises((EngineFailure, InvalidFile)):
            asked()
    tables.close()
    unconfigured = Tables(place.tables._directory)
    with pytest.raises(EngineFailure):
        unconfigured.sums(live, SUM_OF_X)
    unconfigured.close()
    assert SECRET not in caplog.text
    assert "one.parquet" not in caplog.text


@only("place", ["s3"], indirect=True)
@only(
    "list_",
    [
        b"",
        b"<a",
        b"\xff",
        b"<a><Contents/></a>",
        b"<a><Contents><Key>elsewhere/a.parquet</Key></Contents></a>",
        b"<a><Contents><Key>in/side/people/a.parquet</Key><Size>-9</Size><ETag>x</ETag></Contents></a>",
        b'<!DOCTYPE a [<!ENTITY h "haha">]><a>&h;</a>',
        '<!DOCTYPE a [<!ENTITY h "haha">]><a>&h;</a>'.encode("utf-16"),
        b"<a>" + b" " * 2**22 + b"</a>",
    ],
)
def test_a_list_that_cannot_be_read_is_a_failure(place: Place, list_: bytes) -> None:
    place.server.lists.append(list_)
    with pytest.raises(EngineFailure):
        place.take("people")


@only("place", ["s3"], indirect=True)
def test_a_list_without_an_end_is_a_failure(place: Place) -> None:
    again = b"<a><NextContinuationToken>1</NextContinuationToken></a>"
    place.server.lists.extend([again] * 1_000)
    with pytest.raises(EngineFailure):
        place.take("people")
    assert len(place.server.asked) == 100


def test_a_server_with_another_certificate_is_not_read(
    certificate: tuple[Path, ssl.SSLContext], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(make_certificate(tmp_path)[0]))
    with serve_files(certificate[1]) as server:
        server.put("one.parquet", parquet(1, 2))
        tables = Tables(tmp_path / "data", connections={"place": server.connection})
        with pytest.raises(EngineFailure):
            tables.intake.ingest_from(TableOrigin("place", "one.parquet", live=False), [X])
        tables.close()
        assert server.asked == []


@only("place", ["https"], indirect=True)
def test_a_server_without_versions_can_be_copied_only(place: Place) -> None:
    place.put("one.parquet", parquet(1, 2))
    place.server.tags = False
    place.take("one.parquet", live=True)
    place.server.dates = False
    assert "sends neither `ETag` nor `Last-Modified`" in place.refusal("one.parquet", live=True)
    assert place.tables.sums(place.take("one.parquet"), SUM_OF_X) == Moments(2, 3, 5)
    assert "must be one file" in place.refusal("directory")


def test_a_copy_has_limits(place: Place, tmp_path: Path) -> None:
    content = parquet(1, 2)
    place.put("one.parquet", content)
    for limits, told in (
        (CopyLimits(len(content) - 1, 60), "SNAPLEDGER_MAX_UPLOAD_BYTES"),
        (CopyLimits(len(content), -1), "SNAPLEDGER_MAX_UPLOAD_SECONDS"),
    ):
        place.tables.intake._copy_limits = limits
        assert told in place.refusal("one.parquet")
    place.put("empty.parquet", b"")  # of which no piece comes
    assert "SNAPLEDGER_MAX_UPLOAD_SECONDS" in place.refusal("empty.parquet")
    place.tables.intake._copy_limits = CopyLimits(len(content), 60)
    place.take("one.parquet")
    with pytest.raises(EngineFailure):
        place.tables.intake.ingest_from(TableOrigin("place", "one.parquet", live=True), [X], None, lambda: True)


def test_a_directory_of_too_many_files_is_refused() -> None:
    files = [StoredFile(f"t/{i:05}.parquet", 1, "v") for i in range(MAX_FILES + 1)]
    assert select_table_files(files[:-1], ("t",)) == files[:-1]
    with pytest.raises(InvalidFile, match="10,000 files"):
        select_table_files(files, ("t",))


@only(
    ("query", "also", "signature"),
    [
        ("test.txt", {"Range": "bytes=0-9"}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        ("?lifecycle=", {}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("?max-keys=2&prefix=J", {}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_signatures_are_those_that_amazon_publishes(query: str, also: dict[str, str], signature: str) -> None:
    """The examples of "Signature Calculations for the Authorization Header" in the reference of Amazon S3."""
    credentials = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
    url, at = f"https://examplebucket.s3.amazonaws.com/{query}", datetime(2013, 5, 24, tzinfo=UTC)
    assert sign_request(credentials, "GET", url, at, also)["authorization"].endswith(f"Signature={signature}")
