"""What test modules share stands in modules of its own, beside them or in tests/support."""

import re
from pathlib import Path


def test_no_module_imports_from_a_test_module() -> None:
    imports = re.compile(r"^\s*(?:from|import)\s+(?:\w+\.)*test_\w+", re.MULTILINE)
    found = {str(path): imports.findall(path.read_text()) for path in Path(__file__).parent.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}
