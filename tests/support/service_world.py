"""The service as its users meet it: a process of its own behind a socket. Every answer is held against its contract."""

import atexit
import itertools
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import service_processes
from openapi_contract import Contract, service_contract
from service_processes import ServiceProcess
from sqlalchemy import text, update

from app.db import tables
from app.db.database import Database

_names = itertools.count()
_COUNTS = " UNION ALL ".join(
    f"SELECT '{table.name}', count(*) FROM {table.name}"  # noqa: S608 - our own names
    for table in tables.metadata.sorted_tables
    if table is not tables.verifications  # a ledger that is read may be verified
)

MAX_EPSILON = 1000  # beyond the default of 10, so that the known answers can be asked for
UPLOAD_LIMIT_BYTES = 2**24
LONG_AGO = "2026-01-01T00:00:00.000000Z"

X_COLUMNS: dict[str, Any] = {"x": {"kind": "integer", "bounds": [0, 100]}}  # those of `numbers_csv`


def a_name(kind: str) -> str:
    """A name that nothing has yet."""
    return f"{kind}-{next(_names)}"


def key_of(client: httpx.Client) -> str:
    """The key that a client calls with."""
    return str(client.headers["Authorization"]).removeprefix("Bearer ")


def told(problem: httpx.Response) -> str:
    """The text of a problem without the id of its request."""
    return json.dumps({name: value for name, value in problem.json().items() if name != "request_id"})


def becomes(true: Callable[[], bool]) -> bool:
    """Whether it becomes true within two minutes: far longer than anything takes on a busy machine."""
    deadline = time.monotonic() + 120
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@dataclass
class Service:
    """A running service, as its admin sees it; everything made through it has a name of its own."""

    url: str
    admin_key: str
    data: Path
    log: Path
    database_url: str
    pid: int
    contract: Contract
    admin: httpx.Client = field(init=False)
    stranger: httpx.Client = field(init=False)
    clients: list[httpx.Client] = field(default_factory=list)
    shared: "dict[str, Table]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.admin = self.client(self.admin_key)
        self.stranger = self.client(None)

    def client(self, key: str | None) -> httpx.Client:
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        hooks: dict[str, list[Any]] = {"response": [self.contract.check]}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=60, limits=limits, event_hooks=hooks)
        self.clients.append(client)
        return client

    def principal(self, role: str) -> tuple[str, httpx.Client]:
        name = a_name(role)
        answer = self.admin.post("/v1/principals", json={"name": name, "role": role})
        assert answer.status_code == 201, answer.text
        return name, self.client(answer.json()["key"])

    def upload(
        self,
        client: httpx.Client,
        metadata: dict[str, Any] | str,
        content: bytes,
        file_name: str = "table.csv",
        path: str = "/v1/datasets",
    ) -> httpx.Response:
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        return client.post(path, files={"metadata": (None, text), "file": (file_name, content)})

    def table(
        self, columns: dict[str, Any], content: bytes | str, *, limit: str = "10", allowance: str = "10", **more: Any
    ) -> "Table":
        """A dataset with an owner and an analyst of its own."""
        name = a_name("table")
        owner_name, owner = self.principal("owner")
        metadata = {"name": name, "epsilon_limit": limit, "columns": columns, **more}
        answer = self.upload(owner, metadata, content.encode() if isinstance(content, str) else content)
        assert answer.status_code == 201, answer.text
        table = Table(self, name, owner_name, owner, *self.principal("analyst"))
        table.grant(table.analyst_name, allowance)
        return table

    def shared_table(self, columns: dict[str, Any], content: str) -> "Table":
        """The same dataset for all tests that ask for these columns and rows, and only have something refused."""
        told = json.dumps([columns, content])
        if told not in self.shared:
            self.shared[told] = self.table(columns, content)
        return self.shared[told]

    def footprint(self) -> tuple[dict[str, int], list[str]]:
        """How many rows each table of the database has, and which files there are, deleted ones that are open too."""
        database = Database(self.database_url)
        with database.read() as session:
            rows = {row[0]: row[1] for row in session.connection.execute(text(_COUNTS))}
        database.close()
        files = [f"{at}/{name}" for at, *names in os.walk(self.data) for name in itertools.chain(*names)]
        for descriptor in Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                target = str(descriptor.readlink())
            except FileNotFoundError:  # closed since
                continue
            if target.endswith("(deleted)"):
                files.append(target)
        return rows, sorted(files)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Nothing of what happens in the block leaves a row, a file, or an open file that has no name."""
        before = self.footprint()
        yield
        if not becomes(lambda: self.footprint() == before):  # who hung up is noticed a moment later
            assert self.footprint() == before

    def expire_key(self, name: str) -> None:
        """As if the time of a principal's key had passed: no test waits for a moment that a busy machine misses."""
        database, named = Database(self.database_url), tables.principals.c.name == name
        with database.write() as transaction:
            transaction.change(update(tables.principals).where(named).values(key_expires_at=LONG_AGO))
            transaction.commit()
        database.close()

    def scans(self) -> float:
        """How many times the data engine read a table."""
        lines = httpx.get(f"{self.url}/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("snapledger_engine_seconds_count"))

    def resident_bytes(self) -> int:
        """How much memory the process holds."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@dataclass
class Table:
    """A dataset, its owner, and an analyst with an allowance on it."""

    service: Service
    name: str
    owner_name: str
    owner: httpx.Client
    analyst_name: str
    analyst: httpx.Client

    @property
    def path(self) -> str:
        return f"/v1/datasets/{self.name}"

    def grant(self, principal: str, limit: str) -> None:
        answer = self.owner.put(f"{self.path}/allowances/{principal}", json={"epsilon_limit": limit})
        assert answer.status_code in {200, 201}, answer.text

    def another(self, limit: str) -> tuple[str, httpx.Client]:
        """Another analyst with an allowance."""
        name, client = self.service.principal("analyst")
        self.grant(name, limit)
        return name, client

    def plan(self, statistic: dict[str, Any], *, client: httpx.Client | None = None, **question: Any) -> httpx.Response:
        return (client or self.analyst).post(f"{self.path}/plan", json={"statistic": statistic, **question})

    def release(
        self, statistic: dict[str, Any], *, key: str | None = None, client: httpx.Client | None = None, **question: Any
    ) -> httpx.Response:
        headers = {"Idempotency-Key": key or secrets.token_hex(8)}
        body = {"statistic": statistic, **question}
        return (client or self.analyst).post(f"{self.path}/releases", json=body, headers=headers)

    def fresh(self, statistic: dict[str, Any], **question: Any) -> dict[str, Any]:
        """A release that is drawn, whatever is known already."""
        answer = self.release(statistic, reuse=False, **question)
        assert answer.status_code == 201, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def budget(self) -> dict[str, Any]:
        document: dict[str, Any] = self.owner.get(f"{self.path}/budget").json()
        return document

    def entries(self) -> list[dict[str, Any]]:
        """The whole ledger."""
        entries: list[dict[str, Any]] = self.owner.get(f"{self.path}/ledger", params={"limit": 1000}).json()["entries"]
        return entries


def numbers_csv(n: int, *, column: str = "x", most: int = 100) -> str:
    """A table of n whole numbers from 0 to `most`."""
    return "\n".join([column, *(str(7 * i % (most + 1)) for i in range(n))]) + "\n"


def whole_list(client: httpx.Client, path: str) -> list[dict[str, Any]]:
    """All items of a list, however many other tests have made."""
    return [item for page in pages(client, path, 1000) for item in page]


def pages(client: httpx.Client, path: str, limit: int, **more: str) -> Iterator[list[dict[str, Any]]]:
    """Every page of a list, from the first to the last, by `next` and by the header Link, which must agree."""
    query: dict[str, Any] = {"limit": limit, **more}
    linked = None
    while True:
        answer = client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        assert linked is None or client.get(linked).content == answer.content
        document = answer.json()
        following = document.pop("next")
        (items,) = document.values()
        yield items
        linked = answer.links.get("next", {}).get("url")
        assert (linked is None) == (following is None)
        if following is None:
            return
        assert following != query.get("after")
        query["after"] = following


def free_port() -> int:
    """A port for a server, which no other program is given as long as this one runs.

    It stays bound here, without listening, so that nobody gets it before the server starts. A server may share it
    with the option SO_REUSEADDR, which they all set.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    atexit.register(holder.close)
    port: int = holder.getsockname()[1]
    return port


@contextmanager
def serving(
    folder: Path, database_url: str, *options: str, launcher: tuple[str, ...] = (), **settings: str
) -> Iterator[Service]:
    """A service of its own, from when it is ready until it is stopped; `launcher` is a command that runs it.

    `{url}` in a setting stands for the service's own URL.
    """
    admin_key, port, log = secrets.token_urlsafe(32), free_port(), folder / "log"
    url = f"http://127.0.0.1:{port}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
    environment |= {
        "SNAPLEDGER_DATABASE_URL": database_url,
        "SNAPLEDGER_DATA_DIR": str(folder / "data"),
        "SNAPLEDGER_ADMIN_KEY": admin_key,
        "SNAPLEDGER_MAX_EPSILON_PER_RELEASE": str(MAX_EPSILON),
        "SNAPLEDGER_MAX_UPLOAD_BYTES": str(UPLOAD_LIMIT_BYTES),
        "SNAPLEDGER_RATE_LIMIT": "off",
        "SNAPLEDGER_VERIFY_SECONDS": "0",  # or it would verify all ledgers a minute after its start, in whichever test
        **{f"SNAPLEDGER_{name}": value.replace("{url}", url) for name, value in settings.items()},
    }
    arguments = ["serve", "--port", str(port), *options]
    process: ServiceProcess | subprocess.Popen[bytes]
    if launcher or options:
        command = [*launcher, sys.executable, "-m", "app.cli.service_commands", *arguments]
        with log.open("wb") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=folder)  # noqa: S603
    else:
        process = service_processes.start(arguments, environment, log, folder)
    try:
        _wait_until_ready(url, process, log)
        service = Service(url, admin_key, folder / "data", log, database_url, process.pid, service_contract())
        try:
            yield service
        finally:
            for client in service.clients:
                client.close()
    finally:
        process.terminate()
        process.wait(timeout=200)


def _wait_until_ready(url: str, process: "ServiceProcess | subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(6000):  # longer than a test may take: how long a start takes is up to the machine
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
        assert process.poll() is None, log.read_text()
    raise AssertionError(log.read_text())
