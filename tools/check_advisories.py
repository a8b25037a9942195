"""Looks for security advisories about the packages that the lock files pin.

pip-audit checks first. It skips packages that its source does not know, and does not report that in its exit status.
So all packages that it skipped are compared with `advisories.toml`. Exit status 1 if a pinned version is affected.

Run: python tools/check_advisories.py [LOCK …]
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

HERE = Path(__file__).parent
ROOT = HERE.parent
_PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^ ;\\]+)", re.MULTILINE | re.IGNORECASE)


class Finding(NamedTuple):
    """An advisory about a pinned version."""

    package: str
    version: str
    advisory: str


def pinned(lock: Path) -> dict[str, str]:
    """Return the version of each package in a lock file.

    Raises:
        ValueError: the file pins nothing.
    """
    found = {name.lower().replace("_", "-"): version for name, version in _PINNED.findall(lock.read_text("utf-8"))}
    if not found:
        raise ValueError(f"{lock} pins nothing")
    return found


def looked_up(lock: Path) -> tuple[set[str], list[Finding]]:
    """Return the packages that pip-audit checked, and its findings."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--require-hashes", "--disable-pip"]
    command += ["--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
        packages = json.loads(run.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return set(), []
    known = [package for package in packages if "skip_reason" not in package]
    findings = [
        Finding(package["name"], package["version"], advisory["id"])
        for package in known
        for advisory in package["vulns"]
    ]
    return {package["name"].lower() for package in known}, findings


def listed(versions: Mapping[str, str], advisories: Iterable[Mapping[str, object]]) -> list[Finding]:
    """Return the findings of our own list for these versions."""
    found = []
    for advisory in advisories:
        package, affected = str(advisory["package"]), SpecifierSet(str(advisory["affected"]), prereleases=True)
        version = versions.get(Requirement(package).name)
        if version is not None and version in affected:
            found += [Finding(package, version, str(identity)) for identity in advisory["ids"]]  # type: ignore[attr-defined]
    return found


def main(locks: list[Path]) -> int:
    """Check each lock file, print the findings and return their number."""
    kept = tomllib.loads((HERE / "advisories.toml").read_text("utf-8"))
    findings = 0
    for lock in locks:
        versions = pinned(lock)
        known, found = looked_up(lock)
        rest = {name: version for name, version in versions.items() if name not in known}
        found += listed(rest, kept["advisory"])
        source = f"{len(known)} packages by pip-audit, {len(rest)} by the list of {kept['as_of']}"
        print(f"{lock.name}: {source}: {len(found)} advisories")
        for finding in found:
            print(f"  {finding.package} {finding.version}: {finding.advisory}")
        findings += len(found)
    return findings


if __name__ == "__main__":
    sys.exit(1 if main([Path(name) for name in sys.argv[1:]] or sorted(ROOT.glob("requirements*.lock"))) else 0)
