"""Connections of strangers: what is refused before a body is read, hang-ups, endless and malformed requests."""

import json
from itertools import chain, repeat

import pytest
from raw_http import chunked, head, line
from service_world import UPLOAD_LIMIT_BYTES, X_COLUMNS, Service, Table, numbers_csv

MEAN = {"kind": "mean", "column": "x"}
JSON = "Content-Type: application/json"
FORM = "Content-Type: multipart/form-data; boundary=b"
CHUNKED = "Transfer-Encoding: chunked"
QUESTION = json.dumps({"statistic": MEAN, "epsilon": "0.5", "reuse": False}).encode()
MEGABYTE = 2**20
MARK = "nobody-may-see-this"


@pytest.fixture(scope="module")
def table(running) -> Table:
    service: Service = running("sqlite")
    return service.table(X_COLUMNS, numbers_csv(20))


def key_of(client) -> str:
    key: str = client.headers["Authorization"]
    return key


@pytest.mark.parametrize("length", ["Content-Length: 100000000", CHUNKED])
@pytest.mark.parametrize("expect", [(), ("Expect: 100-continue",)], ids=["at once", "asking"])
def test_401_before_the_body_is_read(table: Table, length: str, expect: tuple[str, ...]) -> None:
    """401 and 413 before the body is read."""
    name, former = table.service.principal("analyst")
    assert former.get("/v1/me").status_code == 200
    assert table.service.admin.post(f"/v1/principals/{name}/keys").status_code == 201
    for authorization in (None, "Bearer wrong", key_of(former)):
        for path, form in (("/v1/datasets", FORM), (f"{table.path}/plan", JSON), (f"{table.path}/releases", JSON)):
            with line(table.service) as connection:
                connection.send(head("POST", path, form, length, *expect, authorization=authorization))
                assert connection.answer().status == 401


def test_413_before_the_body_is_read(table: Table) -> None:
    """413: body over the limit: 1 MiB of JSON, `MAX_UPLOAD_BYTES` of upload. 401 and 413 before the body is read."""
    owner, analyst = key_of(table.owner), key_of(table.analyst)
    too_long = UPLOAD_LIMIT_BYTES + 3 * MEGABYTE
    for authorization, path, form, length, status in (
        (analyst, f"{table.path}/plan", JSON, MEGABYTE + 1, 413),
        (analyst, f"{table.path}/releases", JSON, 2**62, 413),
        (analyst, f"{table.path}/releases", FORM, MEGABYTE + 1, 413),  # only an upload has the limit of uploads
        (owner, f"{table.path}/allowances/admin", JSON, MEGABYTE + 1, 413),
        (owner, "/v1/datasets", FORM, too_long, 413),
        (owner, "/v1/datasets", FORM.replace("multipart", "MultiPart"), too_long, 413),
        (analyst, "/v1/datasets", FORM, too_long, 403),
        (owner, "/v1/datasets", JSON, too_long, 413),
    ):
        with line(table.service) as connection:
            method = "PUT" if "allowances" in path else "POST"
            connection.send(head(method, path, form, f"Content-Length: {length}", authorization=authorization))
            assert connection.answer().status == status


def test_a_mebibyte_is_read_and_no_more(table: Table) -> None:
    for size, status in ((MEGABYTE, 200), (MEGABYTE + 1, 413)):
        body = json.dumps({"statistic": MEAN, "epsilon": 1}).encode().ljust(size)
        for pieces in ([body], (body[i : i + 999] for i in range(0, size, 999))):
            answer = table.analyst.post(
                f"{table.path}/plan", content=pieces, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == status
    metadata = json.dumps({"name": "never", "epsilon_limit": 1, "columns": X_COLUMNS}).ljust(MEGABYTE + 1)
    for part in ((None, metadata), ("metadata.json", metadata)):
        files = {"metadata": part, "file": ("t.csv", b"x\n1\n2\n")}
        assert table.owner.post("/v1/datasets", files=files).status_code == 413


@pytest.mark.parametrize("path", ["plan", "datasets"])
@pytest.mark.parametrize("with_key", [False, True], ids=["without a key", "with a key"])
def test_a_hundred_megabytes_leave_no_trace(table: Table, path: str, with_key) -> None:
    """A body of 100 MB without a key (401 before it is read) and with one (413, chunked too)."""
    client, path, form = (
        (table.analyst, f"{table.path}/plan", JSON) if path == "plan" else (table.owner, "/v1/datasets", FORM)
    )
    begin = b"--b\r\nContent-Disposition: form-data; name=file; filename=f\r\n\r\n"
    before = table.service.resident_bytes()
    with table.service.unchanged(), line(table.service) as connection:
        authorization = key_of(client) if with_key else None
        connection.send(head("POST", path, form, CHUNKED, authorization=authorization))
        connection.hears(chain([b"%x\r\n%s\r\n" % (len(begin), begin)], chunked(100 * MEGABYTE)))
        assert connection.answer().status == (413 if with_key else 401)
    assert table.service.resident_bytes() - before < 16 * MEGABYTE


def test_who_hangs_up_half_way_leaves_nothing(table: Table) -> None:
    """A client that hangs up half way: nothing is stored, and its key stays usable."""
    upload = (
        b'--b\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{}\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\nx\n'
    )
    with table.service.unchanged():
        for _ in range(5):
            for client, path, form, pieces in (
                (table.analyst, f"{table.path}/releases", JSON, [QUESTION[:-1]]),
                (table.owner, "/v1/datasets", FORM, [upload[:70]]),
                (table.owner, "/v1/datasets", FORM, [upload, b"1\n" * 3 * MEGABYTE]),
            ):
                length = sum(map(len, pieces)) + 1
                extra = (form, f"Content-Length: {length}", "Idempotency-Key: half way")
                with line(table.service) as connection:
                    connection.send(head("POST", path, *extra, authorization=key_of(client)), *pieces)
    assert table.release(MEAN, key="half way", epsilon="0.1", reuse=False).status_code == 201


def test_who_does_not_wait_for_the_answer_pays_once(table: Table) -> None:
    """A crash before the commit costs nothing; one after it loses nothing: the answer waits for the key."""
    before = len(table.entries())
    request = head(
        "POST",
        f"{table.path}/releases",
        *(JSON, f"Content-Length: {len(QUESTION)}", "Idempotency-Key: impatient"),
        authorization=key_of(table.analyst),
    )
    for _ in range(10):
        with line(table.service) as connection:
            connection.send(request, QUESTION)
    question = json.loads(QUESTION)
    answers = {table.release(key="impatient", **question).content for _ in range(3)}
    assert len(answers) == 1
    assert len(table.entries()) == before + 1


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b"[",
        b"a]b",
        b"[::1",
        b"x/y?z",
        b"@:99999999",
        b"\xff\xfe",
        b"\xd9\xa3",
        MARK.encode() * 100,
        b"a, b",
        b"%00",
    ],
)
def test_a_host_of_nonsense_changes_nothing(table: Table, host: bytes) -> None:
    """The answer is the same, byte for byte, whatever host was named; keys do not depend on it."""
    first = table.release(key="any host", **json.loads(QUESTION))
    extra = (b"Host: " + host, JSON, f"Content-Length: {len(QUESTION)}", "Idempotency-Key: any host")
    with line(table.service) as connection:
        connection.send(head("POST", f"{table.path}/releases", *extra, authorization=key_of(table.analyst)), QUESTION)
        answer = connection.answer()
    assert (answer.status, answer.body) == (201, first.content)
    assert answer.headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize(
    "request_bytes",
    [
        *(b"\x00\n\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/3.0\r\n\r\n", b"\r\n" * 9 + b"X"),
        *(head(method, "/v1/me") for method in ("NOBODY-MAY-SEE-THIS", "GET /", "CONNECT")),
        *(head("GET", path) for path in ("nobody-may-see-this", "/\x01", "/\xff", "http://[", "", "/a b")),
        head("GET", "/v1/me", f"{MARK} : x"),
        head("GET", "/v1/me", b"X: \x00" + MARK.encode()),
        head("POST", "/v1/principals", "Content-Length: 5", CHUNKED),
        head("POST", "/v1/principals", "Content-Length: 5", "Content-Length: 6"),
        *(head("POST", "/v1/principals", f"Content-Length: {length}") for length in ("-1", "1_0", "²", "9" * 30, "+1")),
        *(head("POST", "/v1/principals", f"Transfer-Encoding: {MARK}"),),
        head("POST", "/v1/principals", CHUNKED) + MARK.encode(),
    ],
    ids=lambda request_bytes: ascii(request_bytes)[2:42],
)
def test_what_is_no_http_is_refused(table: Table, request_bytes: bytes) -> None:
    """A 4xx without echo, and the service goes on."""
    with table.service.unchanged(), line(table.service) as connection:
        connection.send(request_bytes)
        answer = connection.answer()
    assert 400 <= answer.status < 500
    assert MARK not in answer.body.decode().lower()
    assert table.service.stranger.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (b"GET /healthz HTTP/1.1\r\nX: ", b"x" * 2**16),
        (b"GET /healthz HTTP/1.1\r\n", b"X: y\r\n" * 2**13),
        (b"GET /", b"x" * 2**16),
        (head("POST", "/v1/me/key", CHUNKED) + b"1;", b"x" * 2**16),
        (head("POST", "/v1/me/key", CHUNKED) + b"0\r\n", b"X: y\r\n" * 2**13),
    ],
    ids=["value", "headers", "path", "extension", "trailers"],
)
def test_an_endless_head_is_not_listened_to(table: Table, begin: bytes, piece: bytes) -> None:
    """Memory stays flat without a key, whatever is sent."""
    before = table.service.resident_bytes()
    with line(table.service) as connection:
        assert not connection.hears(chain([begin], repeat(piece, 2_000)))
    assert table.service.resident_bytes() - before < 16 * MEGABYTE


def test_requests_on_one_connection_are_answered_in_their_order(table: Table) -> None:
    authorization = key_of(table.analyst)
    requests = [
        head("GET", "/v1/me", authorization=authorization),
        head("GET", "/v1/nowhere"),
        head("GET", "/v1/me", "Connection: close", authorization=authorization),
    ]
    with line(table.service) as connection:
        connection.send(b"".join(requests))
        statuses = [answer[:3] for answer in connection.rest().split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"401", b"200"]


def test_an_upgrade_is_not_taken(table: Table) -> None:
    extra = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: eA==", "Sec-WebSocket-Version: 13")
    with line(table.service) as connection:
        connection.send(head("GET", "/v1/me", *extra, authorization=key_of(table.analyst)))
        assert connection.answer("GET").status == 200


def test_a_head_request_has_no_body(table: Table) -> None:
    with line(table.service) as connection:
        connection.send(head("HEAD", "/v1/me", "Connection: close", authorization=key_of(table.analyst)))
        assert connection.answer("HEAD").status == 200
        assert connection.rest() == b""


@pytest.mark.parametrize(("headers", "status"), [(100, 200), (129, 400)])
def test_headers_are_bounded_in_number(table: Table, headers: int, status: int) -> None:
    """Each takes many times its bytes: heads of thousands filled the memory."""
    with line(table.service) as connection:
        connection.send(head("GET", "/healthz", *[f"X-{number}: y" for number in range(headers - 10)], *["Y: z"] * 10))
        assert connection.answer().status == status
