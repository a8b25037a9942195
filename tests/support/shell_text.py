"""A terminal as a reader of a page has it: one bash, in a folder of its own, in which `snapledger` is on the path."""

import os
import secrets
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service_world import free_port

TOLD_URL = "http://127.0.0.1:8000"


class Shell:
    """Types lines as a page has them, with the service at another port than the page says."""

    def __init__(self, home: Path, process: "subprocess.Popen[str]", url: str) -> None:
        self.home, self._process, self._url = home, process, url

    def type(self, line: str) -> str:
        """What a command prints, on both outputs, until it ends; then the shell waits for the next."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = line.replace(TOLD_URL, self._url).replace("snapledger serve", f"snapledger serve --port {self.port}")
        end = secrets.token_hex(16)
        self._process.stdin.write(f"{line}\nprintf '%s\\n' {end}\n")
        self._process.stdin.flush()
        printed: list[str] = []
        for said in self._process.stdout:
            if said.endswith(f"{end}\n"):
                printed.append(said.removesuffix(f"{end}\n"))
                break
            printed.append(said)
        text = "".join(printed).replace(str(self.home), "~").replace(self._url, TOLD_URL)
        return "".join(f"{each.rstrip()}\n" for each in text.splitlines())

    @property
    def port(self) -> int:
        """Where the service of the page is."""
        return int(self._url.rsplit(":", 1)[1])

    def save(self, name: str, text: str) -> None:
        """Save a file that a page shows."""
        (self.home / name).write_text(text)


@contextmanager
def shell(home: Path, url: str | None = None, **variables: str) -> Iterator[Shell]:
    """A shell, until the block ends; what it left running ends with it."""
    commands = home / "bin"
    commands.mkdir()
    script = commands / "snapledger"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m app.cli.service_commands "$@"\n')
    script.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
    environment.pop("XDG_CONFIG_HOME", None)
    environment |= {"HOME": str(home), "PATH": f"{commands}:{os.environ['PATH']}", **variables}
    with subprocess.Popen(
        ["/bin/bash", "--noprofile", "--norc"],
        cwd=home,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield Shell(home, process, url or f"http://127.0.0.1:{free_port()}")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
