"""A service with two figures, the figures' database beside it, and who may read them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from client_world import People, settle
from command_line import run
from psycopg import sql
from readings import Readings
from service_world import Service, becomes, serving
from sqlalchemy import make_url

from snapledger_client import Client

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"


@pytest.fixture(scope="session")
def figures_database(postgres_server: str) -> str:
    """The URL of an empty database, as the service is told it."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE figures")
    return make_url(postgres_server).set(database="figures").render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, figures_database: str) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", FIGURES_DATABASE_URL=figures_database) as running:
        yield running


@pytest.fixture(scope="session")
def readings(service: Service, figures_database: str) -> Readings:
    people = settle(service, limit=100, allowance=50)
    with Client(service.url, people.ada) as ada:
        penguins = ada.dataset("penguins")
        penguins.publish("species", "Penguins by species", releases=[penguins.histogram("species", epsilon=10).id])
        penguins.publish("body-mass", "Body mass", releases=[penguins.mean("body_mass_g", epsilon=1).id])
    viewer = make_viewer(service.url, people)
    with Client(service.url, viewer) as reader:
        species, mass = (reader.dataset("penguins").figure(name).rows or () for name in ("species", "body-mass"))
    assert becomes(lambda: count_rows(figures_database) == len(species) + len(mass))
    as_reader = make_url(figures_database).set(**make_user(figures_database))
    url = as_reader.render_as_string(hide_password=False)
    return Readings(service.url, viewer, people.owner, url, species)


def make_viewer(url: str, people: People) -> str:
    """Make the viewer that the page names, with the page's commands, and return its key."""
    add, grant = re.findall(r"^snapledger (.*)$", PAGE.read_text(), re.MULTILINE)
    added = run(*add.split(), "--format", "json", URL=url, KEY=people.admin)
    granted = run(*grant.split(), URL=url, KEY=people.owner)
    assert (added.status, granted.status) == (0, 0), added.err + granted.err
    return str(json.loads(added.out)["key"])


def count_rows(url: str) -> int:
    with psycopg.connect(url) as connection:
        try:
            found = connection.execute(sql.SQL("SELECT count(*) FROM published.figure_rows")).fetchone()
        except psycopg.errors.UndefinedTable:
            return 0
    return 0 if found is None else int(found[0])


def make_user(url: str) -> dict[str, str]:
    """Make the user that the page names, with the page's statement."""
    (statement,) = re.findall(r"^CREATE USER .*$", PAGE.read_text(), re.MULTILINE)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
    _, _, username, _, password, *_ = statement.split()
    return {"username": username, "password": password.strip("'")}
