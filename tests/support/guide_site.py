"""Builds the guide as `make docs` does, somewhere else."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ["-q", "-n", "-W", "--keep-going", "-b", "html"]


def build(site: Path, root: Path) -> "subprocess.CompletedProcess[str]":
    """Build the `docs` of a checkout into a folder; warnings make it fail, and are told.

    Only what has changed since the last build into this folder is built again.
    """
    command = [sys.executable, "-m", "sphinx", *BUILD, "-d", str(site.parent / "doctrees"), "docs", str(site)]
    return subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)  # noqa: S603


def check_out(root: Path) -> Path:
    """What the guide is built from, at another place, where its pages may be changed."""
    root.mkdir()
    for path in ROOT.iterdir():
        if path.name in {"app", "client", "deploy", "README.md"}:
            (root / path.name).symlink_to(path)
    shutil.copytree(ROOT / "docs", root / "docs")
    return root
