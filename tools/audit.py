"""Whether an advisory is known about anything that the lock files pin.

pip-audit is asked first. It passes over a package that its source does not know, without a word in its exit status:
whatever it did not look up is compared with the list in this directory. Exit status 1 where something is affected.

Run: python tools/audit.py [LOCK …]
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
    """The version of each package in a lock file."""
    found = {name.lower().replace("_", "-"): version for name, version in _PINNED.findall(lock.read_text("utf-8"))}
    if not found:
        raise ValueError(f"{lock} pins nothing")
    return found


def looked_up(lock: Path) -> tuple[set[str], list[Finding]]:
    """The packages that pip-audit has looked up, and what it found."""
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
    """What the list says about pinned versions."""
    found = []
    for advisory in advisories:
        package, affected = str(advisory["package"]), SpecifierSet(str(advisory["affected"]), prereleases=True)
        version = versions.get(Requirement(package).name)
        if version is not None and version in affected:
            found += [Finding(package, version, str(identity)) for identity in advisory["ids"]]  # type: ignore[attr-defined]
    return found


def main(locks: list[Path]) -> int:
    """Audit each lock file; the number of findings."""
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
