"""Who is slow, or silent, is not waited for: heads, bodies and answers have their time."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias

import pytest
import uvicorn
from service_world import becomes
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
Hasten: TypeAlias = Callable[..., None]
GET = b"GET / HTTP/1.1\r\nHost: service\r\n\r\n"


@dataclass
class Serving:
    """A running server and its port."""

    port: int
    server: uvicorn.Server

    def has_hung_up(self) -> bool:
        """Whether it has no connection any more."""
        return not self.server.server_state.connections


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
def hasten(monkeypatch: pytest.MonkeyPatch) -> Hasten:
    """Makes one limit short; all others stay what they are, far beyond what a call takes on a busy machine."""

    def change(module: ModuleType, name: str, seconds: float = 0.3) -> None:
        monkeypatch.setattr(module, name, seconds)

    return change


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """A server with the real limits."""
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
            timeout_keep_alive=60,
        )
        server = uvicorn.Server(configuration)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert becomes(lambda: server.started)
        yield Serving(listener.getsockname()[1], server)
        server.should_exit = True
        thread.join()


def dialled(server: Serving) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def read_answer(connection: socket.socket) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Read the status, the headers and the body of an answer, in however many pieces it comes."""
    response = http.client.HTTPResponse(connection, method="POST")
    response.begin()
    return response.status, response.headers, response.read()


def rest(connection: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    return b"".join(iter(lambda: connection.recv(2**16), b""))


def taken_until_the_end(connection: socket.socket, *, sent: bytes = b"") -> int:
    """How many bytes come until the other side hangs up, or has, before these are sent or after it."""
    try:
        connection.sendall(sent)
        return len(rest(connection))
    except (BrokenPipeError, ConnectionResetError):
        return 0


@pytest.mark.parametrize("begun", [b"", b"GET / HT", GET[:-2]])
def test_a_head_that_does_not_come_is_not_waited_for(server: Serving, hasten: Hasten, begun: bytes) -> None:
    hasten(http_protocol, "HEAD_SECONDS")
    with dialled(server) as connection:
        assert taken_until_the_end(connection, sent=begun) == 0


def test_a_second_head_that_does_not_come_is_not_waited_for(server: Serving, hasten: Hasten) -> None:
    with dialled(server) as connection:
        connection.sendall(POST + b"0123456789")
        assert read_answer(connection)[2] == b"0123456789"
        hasten(http_protocol, "HEAD_SECONDS")
        assert taken_until_the_end(connection, sent=GET[:-2]) == 0


def test_a_body_that_does_not_come_is_refused(server: Serving, hasten: Hasten) -> None:
    hasten(concurrency_limit, "BODY_GRACE_SECONDS")
    with dialled(server) as connection:
        connection.sendall(POST + b"01234")
        status, headers, body = read_answer(connection)
        assert (status, headers["retry-after"]) == (408, "1")
        assert b"/problems/too-slow" in body


def test_a_body_that_drips_is_refused_too(server: Serving, hasten: Hasten) -> None:
    hasten(concurrency_limit, "BODY_GRACE_SECONDS")
    with dialled(server) as connection:
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


def test_a_body_that_takes_its_time_is_read(server: Serving, hasten: Hasten) -> None:
    hasten(concurrency_limit, "BODY_GRACE_SECONDS")
    hasten(slot_pool, "MIN_BYTES_PER_SECOND", 0.05)  # two minutes for six bytes
    with dialled(server) as connection:
        connection.sendall(POST + b"012345")
        time.sleep(0.6)
        connection.sendall(b"6789")
        assert connection.recv(2**16).startswith(b"HTTP/1.1 200")


def test_who_does_not_take_the_answer_is_hung_up_on(server: Serving, hasten: Hasten) -> None:
    hasten(http_protocol, "LISTEN_SECONDS")
    with dialled(server) as connection:
        connection.sendall(GET)
        assert connection.recv(2**10).startswith(b"HTTP/1.1 200")
        assert becomes(server.has_hung_up)
        assert taken_until_the_end(connection) < LONG_ANSWER
    hasten(http_protocol, "LISTEN_SECONDS", 60)
    with dialled(server) as connection:  # and who does is not
        connection.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert len(rest(connection)) > LONG_ANSWER


def test_who_takes_the_answer_drop_by_drop_is_hung_up_on(server: Serving, hasten: Hasten) -> None:
    """Each drop is taken in time, and all of them would take days."""
    hasten(concurrency_limit, "RESPONSE_GRACE_SECONDS")
    hasten(slot_pool, "MAX_LEAD_SECONDS", 0.1)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**12)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(GET)
        connection.settimeout(60)

        def take_a_drop() -> bool:
            with suppress(ConnectionResetError):
                connection.recv(2**10)
            return server.has_hung_up()

        assert becomes(take_a_drop)
        assert taken_until_the_end(connection) < LONG_ANSWER


def test_unread_answers_are_bounded_in_bytes(server: Serving, hasten: Hasten) -> None:
    """Each is in memory as a whole: one too many is refused, or a slow one is hung up on."""
    hasten(slot_pool, "MAX_LEAD_SECONDS", 0.1)
    hasten(slot_pool, "MAX_LAG_SECONDS", 60)
    with ExitStack() as until_the_end:
        unread = [until_the_end.enter_context(dialled(server)) for _ in range(3)]
        for connection in unread:
            connection.sendall(GET)
            assert connection.recv(2**10).startswith(b"HTTP/1.1 200")
        with dialled(server) as connection:
            connection.sendall(GET)
            assert b"/problems/overloaded" in read_answer(connection)[2]
        hasten(slot_pool, "MAX_LAG_SECONDS", 0)  # each lags as soon as its lead is used up

        def is_answered() -> bool:
            with dialled(server) as connection:
                connection.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
                return len(rest(connection)) > LONG_ANSWER

        assert becomes(is_answered)


def test_the_rest_of_a_refused_body_is_not_waited_for(server: Serving, hasten: Hasten) -> None:
    with dialled(server) as connection:
        connection.sendall(POST + b"0123456789")  # so that the wait for the first head is over
        assert read_answer(connection)[0] == 200
        hasten(http_protocol, "HEAD_SECONDS")
        connection.sendall(POST.replace(b"10", b"9999999"))
        assert read_answer(connection)[0] == 413
        assert taken_until_the_end(connection, sent=b"x") == 0
