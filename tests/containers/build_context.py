"""What of the repository a build may take, by docker's own rules."""

import shutil
from pathlib import Path

from docker.utils.build import exclude_paths

ROOT = Path(__file__).parents[2]


def files_in_context(root: Path) -> set[str]:
    """The files that `docker build` would send of a directory, by its `.dockerignore`."""
    patterns = [
        line.strip()
        for line in (root / ".dockerignore").read_text("utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return {path for path in exclude_paths(str(root), patterns) if (root / path).is_file()}


def copy_context(root: Path, target: Path) -> None:
    """Lay out the files that a build would see."""
    for path in files_in_context(root) - {"Dockerfile", ".dockerignore"}:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, target / path)
