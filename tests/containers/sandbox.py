"""Processes in a root tree, by bubblewrap: as a build runs them, and as a hardened container does."""

import ctypes
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dockerfile_steps import Image

_APART = [
    "bwrap",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--die-with-parent",
    "--new-session",
]
_SPACES = (("mount", "mnt"), ("pid", "pid"), ("net", "net"))
_CLONE_NEWNET = 0x40000000

T = TypeVar("T")


def _environment(variables: dict[str, str]) -> list[str]:
    return ["--clearenv", *(word for name, value in variables.items() for word in ("--setenv", name, value))]


def build_step(image: Image, command: str, wheels: Path) -> None:
    """A RUN: as root, with the tree writable, and packages from `wheels` instead of a registry."""
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels-here"}
    apart = [
        *_APART,
        "--cap-add",
        "ALL",
        "--bind",
        image.root,
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
    ]
    apart += ["--ro-bind", wheels, "/wheels-here", "--chdir", image.directory, *_environment(image.environment | pip)]
    subprocess.run([*apart, "/bin/sh", "-c", command], check=True)


@dataclass(frozen=True)
class Container:
    """A process with a root that it can only read, as the image's user, without capabilities, on its own network."""

    image: Image
    data: Path
    pid: int
    outer: "subprocess.Popen[bytes]"

    def on_its_network(self, work: Callable[[], T]) -> T:
        """Do something, such as a call, from where the process is at 127.0.0.1."""

        def enter() -> None:
            descriptor = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY)
            try:
                assert ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET) == 0
            finally:
                os.close(descriptor)

        with ThreadPoolExecutor(1, initializer=enter) as hands:
            return hands.submit(work).result()

    def execute(self, *command: str) -> "subprocess.CompletedProcess[bytes]":
        """Run something beside it, as a health check is."""
        inside = [f"--{space}=/proc/{self.pid}/ns/{name}" for space, name in _SPACES]
        uid, _, gid = self.image.user.partition(":")
        variables = [f"{name}={value}" for name, value in self.image.environment.items()]
        beside = ["nsenter", *inside, f"--root=/proc/{self.pid}/root", "env", "-i", *variables]
        as_user = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        return subprocess.run([*beside, *as_user, *command], capture_output=True, check=False)


@contextmanager
def container(
    image: Image, data: Path, log: Path, *command: str, secrets: Path | None = None, **variables: str
) -> Iterator[Container]:
    """Start an image's program, with `data` as its volume; it is stopped at the end of the block."""
    (volume,) = image.volumes
    uid, _, gid = image.user.partition(":")
    apart = [*_APART, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
    apart += [
        "--ro-bind",
        image.root,
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "--bind",
        data,
        volume,
    ]
    if secrets is not None:
        apart += ["--perms", "0755", "--tmpfs", "/run", "--ro-bind", secrets, "/run/secrets"]
    apart += ["--remount-ro", "/", "--chdir", image.directory, *_environment(image.environment | variables)]
    as_user = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
    program = [*as_user, *image.entrypoint, *(command or image.command)]
    with log.open("ab") as output:
        outer = subprocess.Popen([*apart, *program], stdout=output, stderr=output)
    try:
        yield Container(image, data, _program(outer), outer)
    finally:
        outer.terminate()
        outer.wait(timeout=40)


def _program(outer: "subprocess.Popen[bytes]") -> int:
    """The process that bubblewrap started, below its own first one in the new namespace."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and outer.poll() is None:
        below = outer.pid
        for _ in range(2):
            children = Path(f"/proc/{below}/task/{below}/children").read_text().split()
            below = int(children[0]) if children else 0
            if not below:
                break
        if below and b"setpriv" not in Path(f"/proc/{below}/cmdline").read_bytes():
            return below
        time.sleep(0.05)
    return 0
