"""What test modules share stands in modules of its own, beside them or in tests/support."""

import re
from collections import Counter
from pathlib import Path


def test_no_module_imports_from_a_test_module() -> None:
    imports = re.compile(r"^\s*(?:from|import)\s+(?:\w+\.)*test_\w+", re.MULTILINE)
    found = {str(path): imports.findall(path.read_text()) for path in Path(__file__).parent.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_no_two_modules_have_one_name() -> None:
    """pytest imports them by their names alone."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
