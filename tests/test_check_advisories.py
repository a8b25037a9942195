"""`make advisories` finds what is affected, and does not take a package that nobody looked up for a good one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "tools"))

import check_advisories

LOCK = "starlette=={} \\\n    --hash=sha256:00\nnumpy==2.3.0 ; python_version < '4' \\\n    --hash=sha256:00\n"
SKIPPED = [{"name": name, "skip_reason": "not found"} for name in ("starlette", "numpy")]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what pip-audit answers; None where it does not get as far."""

    def answers(packages: list[dict[str, Any]] | None) -> None:
        text = "no network" if packages is None else json.dumps({"dependencies": packages})
        run = subprocess.CompletedProcess([], 0, text, "")
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: run)

    return answers


@pytest.mark.parametrize(
    ("version", "findings"), [("0.49.0", 5), ("1.0.1", 3), ("1.2.0", 1), ("1.3.1", 0), ("1.4.0rc1", 0)]
)
@pytest.mark.parametrize("answer", [SKIPPED, None])
def test_what_was_not_looked_up_is_held_against_the_list(
    tmp_path: Path, asked: Any, answer: Any, version: str, findings: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.lock").write_text(LOCK.format(version))
    asked(answer)
    assert check_advisories.main([tmp_path / "x.lock"]) == findings
    assert capsys.readouterr().out.count(f"starlette {version}: CVE-") == findings


def test_what_was_looked_up_is_believed(tmp_path: Path, asked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.lock").write_text(LOCK.format("1.3.1"))
    good = {"name": "starlette", "version": "1.3.1", "vulns": []}
    bad = {"name": "numpy", "version": "2.3.0", "vulns": [{"id": "PYSEC-0000-1"}]}
    asked([good, bad])
    assert check_advisories.main([tmp_path / "x.lock"]) == 1
    assert "numpy 2.3.0: PYSEC-0000-1" in capsys.readouterr().out
    asked([good, bad | {"vulns": []}])
    assert check_advisories.main([tmp_path / "x.lock"]) == 0


def test_a_lock_that_pins_nothing_is_no_good_lock(tmp_path: Path) -> None:
    (tmp_path / "x.lock").write_text("starlette>=1\n")
    with pytest.raises(ValueError, match="pins nothing"):
        check_advisories.main([tmp_path / "x.lock"])
