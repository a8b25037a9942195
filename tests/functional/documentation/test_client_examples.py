"""Every public name of the client has a docstring with an example, and the examples are true of a real service."""

import ast
import asyncio
import inspect
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
import session_text
from client_world import settle
from service_world import a_name, serving

import snapledger_client
from snapledger_client import AsyncClient, Client

SOURCE = Path(snapledger_client.__file__).parent
# A type alias has no docstring at run time: it is the text that follows it.
ALIASES = {
    "Bounds",
    "DerivedStatistic",
    "End",
    "Interval",
    "Missing",
    "Number",
    "PairOfBounds",
    "Period",
    "Periods",
    "Value",
    "Statistic",
    "Where",
}


def alias_docs() -> dict[str, str]:
    docs = {}
    for path in SOURCE.rglob("*.py"):
        body = ast.parse(path.read_text()).body
        for told, text in pairwise(body):
            if isinstance(told, ast.Assign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                docs[told.targets[0].id] = inspect.cleandoc(text.value.value)  # type: ignore[attr-defined]
    return docs


def members(told: object) -> list[tuple[str, object]]:
    """A class's own and what it has from ours that are no public names: parts of it that have a file of their own."""
    ours = [
        kind
        for kind in (told.__mro__ if inspect.isclass(told) else ())
        if kind is told or kind.__module__.startswith(("snapledger_client._sync.", "snapledger_client._async."))
    ]
    return [each for kind in ours for each in vars(kind).items()]


def documented() -> Iterator[tuple[str, str]]:
    """Each public name, and each public method and property of its own, with its docstring."""
    yield "snapledger_client", snapledger_client.__doc__ or ""
    aliases = alias_docs()
    for name in snapledger_client.__all__:
        if name in ALIASES:
            yield name, aliases.get(name, "")
            continue
        told = getattr(snapledger_client, name)
        yield name, inspect.getdoc(told) or ""
        for member, value in members(told):
            if not member.startswith("_") and isinstance(value, property | staticmethod | classmethod | Callable):
                if member in {"parse", "model_post_init"}:
                    continue
                yield f"{name}.{member}", inspect.getdoc(getattr(told, member)) or ""


DOCUMENTED = dict(documented())
# The members of a problem are shown by its own example.
MEMBERS = {
    name for name in DOCUMENTED if "." in name and hasattr(getattr(snapledger_client, name.split(".")[0]), "slug")
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], int]]:
    """Runs a text's examples; they begin with ada's client, `penguins`, and the owner's and the admin's clients."""
    folder = tmp_path_factory.mktemp("examples")
    loop = asyncio.Runner()
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3") as service, pytest.MonkeyPatch.context() as patch:
        people = settle(service, limit=1000, allowance=500)
        patch.setenv("SNAPLEDGER_URL", service.url)
        patch.setenv("SNAPLEDGER_KEY", people.ada)
        made = {
            kind: {"client": kind(), "owner": kind(key=people.owner), "admin": kind(key=people.admin)}
            for kind in (Client, AsyncClient)
        }

        def run(name: str, text: str) -> int:
            clients = made[AsyncClient if name.startswith("Async") else Client]
            public = {name: getattr(snapledger_client, name) for name in snapledger_client.__all__}
            known = public | clients | {"Decimal": Decimal, "penguins": clients["client"].dataset("penguins")}
            try:
                return session_text.run(name, text, known, loop)
            finally:
                for each in known.values():
                    if isinstance(each, Client) and each not in clients.values():
                        each.close()

        yield run
        for client in made[Client].values():
            client.close()
        for client in made[AsyncClient].values():
            loop.run(client.close())
    loop.close()


@pytest.mark.parametrize("public", [name for name in DOCUMENTED if "." not in name])
def test_examples(run, public: str) -> None:
    """Of a public name, and of its own methods and properties."""
    for name, doc in DOCUMENTED.items():
        if name.partition(".")[0] == public:
            assert doc, f"{name} has no docstring"
            named = doc.replace('"grace"', f'"{a_name("grace")}"').replace("-survey", a_name("-survey"))
            assert run(name, named) or name in MEMBERS, f"{name} has no example"
