"""A service with the penguins on it, as the client's examples find it, and a network that loses answers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files

import httpx
from service_world import Service

from snapledger_client import Client

PENGUINS = (files("app.demo") / "penguins.csv").read_bytes()
COLUMNS = {
    "body_mass_g": {"kind": "integer", "bounds": [2000, 7000]},
    "bill_length_mm": {"kind": "real", "bounds": [30, 65]},
    "species": {"kind": "category", "categories": ["Adelie", "Chinstrap", "Gentoo"], "nullable": False},
}


@dataclass
class People:
    """The keys of who has a part in the examples: an owner of `penguins`, and ada, who may spend on them."""

    admin: str
    owner: str
    ada: str


def settle(service: Service, *, limit: int | str, allowance: int | str) -> People:
    """Make the people, the dataset and the allowance, through the client."""
    with Client(service.url, service.admin_key) as admin:
        owner = admin.create_principal("station", "owner").key
        ada = admin.create_principal("ada", "analyst").key
    with Client(service.url, owner) as station:
        station.register({"name": "penguins", "epsilon_limit": limit, "columns": COLUMNS}, PENGUINS)
        station.dataset("penguins").allow("ada", allowance)
    return People(service.admin_key, owner, ada)


@dataclass
class Loss:
    """A proxy that hands requests on, and drops every third answer after it has it whole."""

    url: str
    seen: int = 0
    dropped: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def drops_this(self) -> bool:
        with self.lock:
            self.seen += 1
            lost = self.seen % 3 == 0
            self.dropped += lost
            return lost


@contextmanager
def losing_every_third_answer(target: str) -> Iterator[Loss]:
    with httpx.Client(base_url=target, timeout=60) as onward:
        loss = Loss("")

        class Proxy(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                answer = onward.request(self.command, self.path, content=body, headers=headers)
                if loss.drops_this():
                    self.close_connection = True
                    return
                self.send_response(answer.status_code)
                for name in ("content-type", "retry-after", "idempotency-replayed"):
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the library's names

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        server = Server(("127.0.0.1", 0), Proxy)
        loss.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield loss
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
