"""Files as tools write them: what is drafted of each, and what its owner is told. All were written for this test."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tool_modules import load_tool

from app.api.json_codec import decode
from app.api.routers.datasets import to_registration
from app.api.schemas.base import validate
from app.api.schemas.datasets import DatasetRequest
from app.engines.ingest.drafting.draft import draft_metadata
from app.engines.ingest.file_format import FileFormat
from app.engines.storage.tables import Tables
from app.services.planning.columns import decode_columns, encode_columns

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests/corpus"
CASES = json.loads((FOLDER / "outcomes.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def find_outcome(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """What `suggest` says of a file: the metadata that it drafts and what it leaves out, or why it is refused."""
    known = dict(options)
    has_header = known.pop("has_header", True)
    try:
        draft = draft_metadata(path, FileFormat(**known), has_header=has_header)
    except ValueError as error:
        return {"refused": str(error).removeprefix(f"{path}: ")}
    return json.loads(json.dumps(draft.metadata() | {"left_out": draft.left_out}))  # type: ignore[no-any-return]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_a_file_as_a_tool_writes_it(tables: Tables, case: dict[str, Any]) -> None:
    path = FOLDER / "files" / case["file"]
    outcome = find_outcome(path, case["options"])
    assert outcome == case["outcome"]
    if "refused" in outcome:
        return
    del outcome["left_out"]
    columns = {name: column | {"unconfirmed": []} for name, column in outcome["columns"].items()}
    metadata = {"name": "confirmed", "epsilon_limit": "1"} | outcome | {"columns": columns}
    registration = to_registration(validate(DatasetRequest, decode(json.dumps(metadata).encode())))
    declared = decode_columns(encode_columns(registration.columns))
    ingested = tables.intake.ingest(
        BytesIO(path.read_bytes()), list(declared.values()), registration.null_values, registration.form
    )
    assert ingested.n == case["rows"]


def test_the_table_of_formats_is_not_stale() -> None:
    tool = load_tool("list_file_formats")
    assert tool.render_page() == (ROOT / "docs" / "file-formats.md").read_text("utf-8"), "run make messages"
