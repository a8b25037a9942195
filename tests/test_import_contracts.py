"""The contracts of imports that name modules one by one name all of them."""

import tomllib
from pathlib import Path
from pkgutil import iter_modules

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("source", "allowed"), [("app.dp", {"app.dp"}), ("app.mechanism_audit", {"app.dp", "app.mechanism_audit"})]
)
def test_a_package_that_imports_nothing_else_is_forbidden_all_else(source: str, allowed: set[str]) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (forbidden,) = (
        each["forbidden_modules"]
        for each in contracts
        if each["type"] == "forbidden" and each["source_modules"] == [source]
    )
    modules = {f"app.{module.name}" for module in iter_modules([str(ROOT / "app")])}
    assert len(modules) > 20
    assert set(forbidden) == modules - allowed
