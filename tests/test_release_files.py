"""The files of a release that are written by hand agree with each other."""

import tomllib
from pathlib import Path

import yaml

from snapledger_client._version import __version__

ROOT = Path(__file__).parents[1]


def test_both_packages_have_the_same_licence_and_version() -> None:
    projects = [tomllib.loads((ROOT / folder / "pyproject.toml").read_text()) for folder in (".", "client")]
    assert [project["project"]["license"] for project in projects] == ["Apache-2.0"] * 2
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "client/LICENSE").read_bytes()
    paths = {
        (ROOT / folder / project["tool"]["hatch"]["version"]["path"]).resolve()
        for folder, project in zip((".", "client"), projects, strict=True)
    }
    assert len(paths) == 1


def test_the_service_needs_the_client_of_its_own_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"snapledger-client=={__version__}" in project["dependencies"]


def test_the_citation_is_of_this_project() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "type", "title", "authors"} <= citation.keys()
    assert (citation["title"], citation["license"]) == ("Snapledger", "Apache-2.0")
    assert "version" not in citation  # it has one place


def test_the_r_client_has_the_same_licence_and_version() -> None:
    lines = (ROOT / "clients/r/DESCRIPTION").read_text().splitlines()
    facts = dict(line.split(": ", 1) for line in lines if not line.startswith(" ") and ": " in line)
    assert (facts["Version"], facts["License"]) == (__version__, "Apache License (>= 2)")
    assert (ROOT / "clients/r/NEWS.md").read_text().startswith(f"# snapledger {__version__}\n")
