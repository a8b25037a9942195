"""Who is slow, or silent, is not waited for: heads, bodies and answers have their time."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from app.api import problems, request_bodies
from app.api.middleware import concurrency_limit, slot_pool
from app.api.server import http_protocol
from app.errors import SnapledgerError

LONG_ANSWER = 2**25
MAX_HELD_BYTES = 4 * LONG_ANSWER
POST = b"POST / HTTP/1.1\r\nHost: service\r\nContent-Length: 10\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: service\r\n\r\n"


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Echoes a body, and answers at length to who sends none."""
    try:
        body = await request_bodies.read_json(Request(scope, receive))
    except SnapledgerError as error:
        await problems.render_error(error)(scope, receive, send)
        return
    answer: Response = PlainTextResponse(body or b"x" * LONG_ANSWER)
    await answer(scope, receive, send)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server with the real limits, but of tenths of seconds."""
    for module, name in (
        (http_protocol, "HEAD_SECONDS"),
        (http_protocol, "LISTEN_SECONDS"),
        (concurrency_limit, "BODY_GRACE_SECONDS"),
        (concurrency_limit, "RESPONSE_GRACE_SECONDS"),
    ):
        monkeypatch.setattr(module, name, 0.3)
    monkeypatch.setattr(concurrency_limit, "MAX_HELD_BYTES", MAX_HELD_BYTES)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        configuration = uvicorn.Config(
            concurrency_limit.ConcurrencyLimit(application, 100),
            http=http_protocol.HttpProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )
        server = uvicorn.Server(configuration)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(20)


def dialled(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def rest(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    return b"".join(iter(lambda: connection.recv(2**16), b""))


@pytest.mark.parametrize("begun", [b"", b"GET / HT", GET[:-2], POST + b"0123456789" + GET[:-2]])
def test_a_head_that_does_not_come_is_not_waited_for(impatient: int, begun: bytes) -> None:
    with dialled(impatient) as connection:
        connection.sendall(begun)
        answered = rest(connection)
    assert answered.count(b"200 OK") == begun.count(POST)


def test_a_body_that_does_not_come_is_refused(impatient: int) -> None:
    with dialled(impatient) as connection:
        connection.sendall(POST + b"01234")
        answer = connection.recv(2**16)
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"retry-after: 1\r\n" in answer
        assert b"/problems/too-slow" in answer


def test_a_body_that_drips_is_refused_too(impatient: int) -> None:
    with dialled(impatient) as connection:
        connection.sendall(POST.replace(b"10", b"1000"))
        connection.settimeout(0.05)
        for _ in range(400):  # ten seconds and more: each piece is early, and all of them are late
            connection.sendall(b"x")
            try:
                answer = connection.recv(2**16)
                break
            except TimeoutError:
                continue
        assert answer.startswith(b"HTTP/1.1 408")


def test_a_body_that_takes_its_time_is_read(impatient: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_pool, "LEAST_BYTES_PER_SECOND", 1)
    with dialled(impatient) as connection:
        connection.sendall(POST + b"012345")
        time.sleep(1)
        connection.sendall(b"6789")
        assert connection.recv(2**16).startswith(b"HTTP/1.1 200")


def test_who_does_not_take_the_answer_is_hung_up_on(impatient: int) -> None:
    with dialled(impatient) as connection:
        connection.sendall(GET)
        time.sleep(2)
        try:
            taken = len(rest(connection))
        except ConnectionResetError:
            taken = 0
        assert taken < LONG_ANSWER
    with dialled(impatient) as connection:  # and who does is not
        connection.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert len(rest(connection)) > LONG_ANSWER


def test_who_takes_the_answer_drop_by_drop_is_hung_up_on(impatient: int) -> None:
    """Each drop is taken in time, and all of them would take days."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**12)
        connection.connect(("127.0.0.1", impatient))
        connection.sendall(GET)
        connection.settimeout(20)
        drops = 0
        with suppress(ConnectionResetError):
            while drops < 200 and connection.recv(2**10):
                drops += 1
                time.sleep(0.1)
        assert 1 < drops < 200


def test_unread_answers_are_bounded_in_bytes(impatient: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is in memory as a whole: one too many is refused, or a slow one is hung up on."""
    monkeypatch.setattr(concurrency_limit, "RESPONSE_GRACE_SECONDS", 60)
    monkeypatch.setattr(http_protocol, "LISTEN_SECONDS", 60)
    monkeypatch.setattr(slot_pool, "MAX_LEAD_SECONDS", 0.1)
    with ExitStack() as until_the_end:
        unread = [until_the_end.enter_context(dialled(impatient)) for _ in range(3)]
        for connection in unread:
            connection.sendall(GET)
            assert connection.recv(2**10).startswith(b"HTTP/1.1 200")
        with dialled(impatient) as connection:
            connection.sendall(GET)
            assert b"/problems/overloaded" in connection.recv(2**16)
        time.sleep(1.5)
        with dialled(impatient) as connection:
            connection.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert len(rest(connection)) > LONG_ANSWER


def test_the_rest_of_a_refused_body_is_not_waited_for(impatient: int) -> None:
    with dialled(impatient) as connection:
        connection.sendall(POST.replace(b"10", b"9999999"))
        assert connection.recv(2**16).startswith(b"HTTP/1.1 413")
        connection.sendall(b"x")
        assert connection.recv(2**16) == b""
