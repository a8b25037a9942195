"""A Dockerfile as stages and steps, and what its steps make of a root tree: as much of it as our own uses."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import NamedTuple

from dockerfile_parse import DockerfileParser


class Step(NamedTuple):
    """An instruction and what it is given."""

    instruction: str
    value: str


@dataclass
class Stage:
    """The steps after one FROM."""

    base: str
    name: str
    steps: list[Step] = field(default_factory=list)


def stages_of(dockerfile: Path) -> list[Stage]:
    """Read a Dockerfile."""
    with dockerfile.open("rb") as file:
        structure = DockerfileParser(fileobj=file).structure
    stages: list[Stage] = []
    for step in structure:
        if step["instruction"] == "COMMENT":
            continue
        if step["instruction"] == "FROM":
            base, *alias = re.split(" AS ", step["value"], flags=re.IGNORECASE)
            stages.append(Stage(base, *alias or [str(len(stages))]))
        else:
            stages[-1].steps.append(Step(step["instruction"], step["value"]))
    return stages


@dataclass
class Image:
    """A root tree, and how a process is started in it."""

    root: Path
    environment: dict[str, str]
    directory: str = "/"
    user: str = "0:0"
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    health: Sequence[str] = ()
    volumes: list[str] = field(default_factory=list)

    def inside(self, path: str) -> Path:
        """Where a path of the image is here."""
        return self.root / os.path.normpath(f"/{self.directory}/{path}" if path[0] != "/" else path).lstrip("/")


Runner = Callable[[Image, str], None]


class Build:
    """Executes the stages of a Dockerfile, each RUN by `run`; `base` has the tree that a FROM names."""

    def __init__(self, folder: Path, context: Path, base: Callable[[str], Path], run: Runner) -> None:
        self._folder, self._context, self._base, self._run = folder, context, base, run
        self._images: dict[str, Image] = {}

    def image(self, stages: Sequence[Stage]) -> Image:
        """The last stage's image."""
        for stage in stages:
            root = self._folder / stage.name
            subprocess.run(["cp", "-a", "--reflink=auto", self._base(stage.base), root], check=True)
            path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
            image = self._images[stage.name] = Image(root, {"PATH": path, "HOME": "/root"})
            for step in stage.steps:
                self._do(image, step)
        return self._images[stages[-1].name]

    def _do(self, image: Image, step: Step) -> None:
        if step.instruction == "RUN":
            self._run(image, step.value)
        else:
            getattr(self, f"_{step.instruction.lower()}")(image, step.value)  # AttributeError: not one of ours

    def _env(self, image: Image, value: str) -> None:
        for assignment in shlex.split(value):
            name, _, text = assignment.partition("=")
            image.environment[name] = Template(text).substitute(image.environment)

    def _workdir(self, image: Image, value: str) -> None:
        image.inside(value).mkdir(parents=True, exist_ok=True)
        image.directory = value

    def _copy(self, image: Image, value: str) -> None:
        words = value.split()
        origin: Callable[[str], Path] = self._context.joinpath
        if words[0].startswith("--from="):
            origin = self._images[words.pop(0).removeprefix("--from=")].inside
        *sources, target = words
        for source in map(origin, sources):
            place = image.inside(target)
            if source.is_dir():
                shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(source, place / source.name if target.endswith("/") else place)

    def _user(self, image: Image, value: str) -> None:
        image.user = value

    def _volume(self, image: Image, value: str) -> None:
        image.volumes.append(value)

    def _expose(self, _: Image, value: str) -> None:
        assert value.isdigit(), value

    def _healthcheck(self, image: Image, value: str) -> None:
        image.health = json.loads(value[value.index("CMD ") + 4 :])

    def _entrypoint(self, image: Image, value: str) -> None:
        image.entrypoint = json.loads(value)

    def _cmd(self, image: Image, value: str) -> None:
        image.command = json.loads(value)
