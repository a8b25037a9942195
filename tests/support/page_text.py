"""A page's sessions: ```pycon blocks as a notebook runs them, ```console blocks as a terminal does.

A block below `<!-- file: NAME -->` is a file that the reader saves.
"""

import asyncio
import re
import shlex
from pathlib import Path
from typing import Any, Protocol

import session_text
from typer.testing import CliRunner

from app.cli.service_commands import app

BLOCK = re.compile(r"(?:<!-- (noise decides the numbers|file: \S+) -->\n)?```(\w+)\n(.*?)```\n", re.DOTALL)


class Types(Protocol):
    """What runs the commands of a page."""

    def type(self, line: str) -> str: ...

    def save(self, name: str, text: str) -> None: ...


class Terminal:
    """Runs `$ snapledger …` with redirections, and `$ echo $?`."""

    def __init__(self, home: Path) -> None:
        self._home, self._environment = home, {"HOME": str(home)}
        self._code = 0

    def type(self, line: str) -> str:
        """What a command prints, on both outputs."""
        words = shlex.split(line)
        if words == ["echo", "$?"]:
            return f"{self._code}\n"
        text = ""
        if "<" in words:
            text = (self._home / words[-1]).read_text()
            words = words[:-2]
        assert words[0] == "snapledger"
        done = CliRunner().invoke(app, words[1:], input=text, env=self._environment, prog_name="snapledger")
        self._code = done.exit_code
        lines = (line.rstrip() for line in done.output.replace(str(self._home), "~").splitlines())
        return "".join(f"{line}\n" for line in lines)

    def save(self, name: str, text: str) -> None:
        """Save a file that a page shows."""
        (self._home / name).write_text(text)


def sessions(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it is told to print."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n", block, flags=re.MULTILINE)
    assert not parts[0]
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run(page: str, names: dict[str, Any], terminal: Types, loop: asyncio.Runner) -> int:
    """Run all sessions of a page in its order; how many commands and examples it had.

    Raises:
        AssertionError: one of them went otherwise than the page tells.
    """
    count = 0
    for marked, kind, block in BLOCK.findall(page):
        if marked.startswith("file: "):
            terminal.save(marked.removeprefix("file: "), block)
            continue
        noisy = bool(marked)
        if kind == "pycon":
            count += session_text.run("page", block, names, loop, noisy=noisy)
        if kind != "console":
            continue
        compared = session_text.masked if noisy else str
        for line, told in sessions(block):
            count += 1
            printed = terminal.type(line)
            assert compared(printed) == compared(told), f"$ {line}\n{printed}"
    return count
