"""The scripts in `tools/` as modules, to compare what they would write with what is there."""

from importlib import util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load_tool(name: str) -> ModuleType:
    described = util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert described is not None
    assert described.loader is not None
    tool = util.module_from_spec(described)
    described.loader.exec_module(tool)
    return tool
