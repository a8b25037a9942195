"""Tables in a directory of their own, and the worst rows stored in them."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from engine_world import COLUMNS, as_csv, worst_rows
from shared_fork_server import share_fork_server

from app.engines.storage.tables import Tables

__all__ = ["share_fork_server"]


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    opened = Tables(tmp_path / "data", threads=2)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def shared_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    opened = Tables(tmp_path_factory.mktemp("data"), threads=2)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def worst(shared_tables: Tables) -> str:
    """The file id of the worst rows."""
    return shared_tables.intake.ingest(BytesIO(as_csv(worst_rows())), COLUMNS, ["NA"]).file_id
