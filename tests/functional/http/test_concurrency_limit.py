"""Nobody fills the service alone: half bodies, unread answers, pipelined requests and idle connections."""

import contextlib
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import pytest
from raw_http import head
from service_world import Service, becomes, key_of, serving

MAX_REQUESTS = 8
MAX_CONNECTIONS = 60
BUNDLE = "/docs/assets/swagger-ui-bundle.js"
BUNDLE_BYTES = 1_500_000
MEGABYTE = 2**20
HALF_A_BODY = b'{"statistic": '
FOREIGN, OTHER = "198.51.100.7", "203.0.113.9"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that answers few requests at once, and has few connections."""
    folder = tmp_path_factory.mktemp("small")
    with serving(
        folder,
        f"sqlite:///{folder}/ledger.sqlite3",
        MAX_CONCURRENT_REQUESTS=str(MAX_REQUESTS),
        MAX_CONNECTIONS=str(MAX_CONNECTIONS),
        TRUSTED_PROXIES="127.0.0.1",
    ) as service:
        yield service


@pytest.fixture
def small(running: Service) -> Service:
    """The service when it has noticed that the connections of the test before are closed."""
    assert becomes(lambda: in_flight(running) == 0)
    return running


@contextmanager
def connections(service: Service, count: int, request: bytes) -> Iterator[list[socket.socket]]:
    """Connections with hardly a buffer that send this and read nothing."""
    host, _, port = service.url.removeprefix("http://").partition(":")
    with ExitStack() as until_the_end:
        opened = []
        for _ in range(count):
            connection = until_the_end.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**12)
            connection.settimeout(60)
            connection.connect((host, int(port)))
            connection.sendall(request)
            opened.append(connection)
        yield opened


def half_body(client: httpx.Client) -> bytes:
    announced = f"Content-Length: {2 * len(HALF_A_BODY)}"
    return head(
        "POST", "/v1/plan", announced, "Content-Type: application/json", authorization=f"Bearer {key_of(client)}"
    ) + (HALF_A_BODY)


def in_flight(service: Service) -> int:
    """How many requests are answered, besides the one that asks."""
    lines = httpx.get(f"{service.url}/metrics").text.splitlines()
    return next(int(float(line.split()[1])) - 1 for line in lines if line.startswith("snapledger_requests_in_flight "))


def all_that_comes(connection: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(2**16):
            received += piece
    return received


def test_half_bodies_of_one_principal_leave_room_for_all_others(small: Service) -> None:
    """They have seven eighths of the slots at most, and health checks need none."""
    _, attacker = small.principal("analyst")
    _, bystander = small.principal("analyst")
    with connections(small, 2 * MAX_REQUESTS, half_body(attacker)):
        assert becomes(lambda: in_flight(small) >= MAX_REQUESTS - 1)
        statuses = [httpx.get(small.url + path).status_code for path in ("/healthz", "/readyz", "/metrics", "/docs")]
        statuses.append(bystander.get("/v1/me").status_code)
    assert statuses == [200] * 5


def test_the_slowest_body_gives_way(small: Service) -> None:
    """Where nobody has more than another: a newcomer gets a slot, and one body a 408 at once."""
    clients = [small.principal("analyst")[1] for _ in range(MAX_REQUESTS + 1)]
    assert {client.get("/v1/me").status_code for client in clients} == {200}
    with ExitStack() as until_the_end:
        (first,) = until_the_end.enter_context(connections(small, 1, half_body(clients[0])))
        assert becomes(lambda: in_flight(small) == 1)
        for client in clients[1:-1]:
            until_the_end.enter_context(connections(small, 1, half_body(client)))
        assert becomes(lambda: in_flight(small) == MAX_REQUESTS)
        assert becomes(lambda: clients[-1].get("/v1/me").status_code == 200)
        assert first.recv(2**16).startswith(b"HTTP/1.1 408 ")
        assert becomes(lambda: in_flight(small) == MAX_REQUESTS - 1)


def test_whole_bodies_do_not_give_way(small: Service) -> None:
    _, client = small.principal("analyst")
    question = {"statistic": {"kind": "mean", "column": "x"}, "bounds": [0, 1], "n": 10, "epsilon": 1}
    with connections(small, 2 * MAX_REQUESTS, half_body(client)):
        for _ in range(20):  # one more than the principal's share each time
            assert small.admin.post("/v1/plan", json=question).status_code != 408


@pytest.mark.slow
def test_unread_answers_hold_slots_and_no_memory(small: Service) -> None:
    """Each has a piece in memory at most; the connections that are too many are refused, or take an unread one's."""
    before = small.resident_bytes()
    _, bystander = small.principal("analyst")
    with connections(small, 40, head("GET", BUNDLE)):
        assert becomes(lambda: in_flight(small) == MAX_REQUESTS - 1)
        assert {bystander.get("/v1/me").status_code for _ in range(20)} == {200}
        assert small.resident_bytes() - before < 32 * MEGABYTE  # the bundle and its pieces, not 40 of it
        assert in_flight(small) <= MAX_REQUESTS
        assert becomes(lambda: httpx.get(small.url + BUNDLE).status_code == 200)  # the slowest has given way


def test_unread_answers_are_hung_up_on_by_the_address_behind_a_trusted_proxy(small: Service) -> None:
    """An address has a share too, which is that of the client where the proxy is trusted."""
    with connections(small, 2 * MAX_REQUESTS, head("GET", BUNDLE, f"X-Forwarded-For: {OTHER}, {FOREIGN}")):
        assert becomes(lambda: in_flight(small) == MAX_REQUESTS - 1)
        refused = httpx.get(f"{small.url}/", headers={"X-Forwarded-For": f"{OTHER}, {FOREIGN}"})
        answered = httpx.get(f"{small.url}/", headers={"X-Forwarded-For": OTHER})
        assert (refused.status_code, answered.status_code) == (503, 200)
        assert refused.json()["type"] == "/problems/overloaded"


def test_what_is_read_comes_whole(small: Service) -> None:
    plain, packed = (httpx.get(small.url + BUNDLE, headers={"Accept-Encoding": coding}) for coding in ("", "gzip"))
    assert plain.content == packed.content
    assert len(plain.content) == int(plain.headers["content-length"]) > BUNDLE_BYTES
    again = httpx.get(small.url + BUNDLE, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_more_pipelined_requests_than_are_kept_are_hung_up_on(small: Service) -> None:
    """They would be kept, each with all that belongs to it, as fast as they come."""
    health = head("GET", "/healthz")
    with connections(small, 1, head("GET", BUNDLE) + health * 16) as (few,):
        answers = b""
        while answers.count(b'{"status":"ok"}') < 16:
            received = few.recv(2**16)
            assert received
            answers = answers[-20_000:] + received
    before = small.resident_bytes()
    with connections(small, 1, head("GET", BUNDLE)) as (many,):
        with contextlib.suppress(OSError):
            many.sendall(health * 100_000)
        assert len(all_that_comes(many)) < BUNDLE_BYTES
    assert small.resident_bytes() - before < 16 * MEGABYTE


def test_the_connection_that_is_idle_the_longest_makes_room(small: Service) -> None:
    with connections(small, MAX_CONNECTIONS, head("GET", "/healthz")) as opened:
        assert becomes(lambda: httpx.get(f"{small.url}/healthz").status_code == 200)
        assert all_that_comes(opened[0]).startswith(b"HTTP/1.1 200")
        opened[-1].sendall(head("GET", "/healthz", "Connection: close"))
        assert all_that_comes(opened[-1]).count(b"HTTP/1.1 200") == 2
