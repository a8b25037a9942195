"""What a bystander sees of a service while it is attacked, and whether that is good enough."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# A service that waits for an attacker is seen, and a slow machine is not: floods take both to 0.8 s, and on slow and
# busy machines to 2 s. What was seen is printed.
MAX_SECONDS = {"health": 10.0, "budget": 10.0}


@dataclass
class Watcher:
    """All answers since it began to watch."""

    output: Path
    answers: list[dict[str, Any]] = field(default_factory=list)

    def read(self) -> None:
        """Read what the watching process has written so far."""
        lines = self.output.read_text().splitlines()
        self.answers = [json.loads(line) for line in lines if line.endswith("}")]

    def faults(self) -> list[str]:
        """Answers that failed or came too late, in words."""
        faults = [
            f"{kind}: no answer at all" for kind in MAX_SECONDS if not any(a["kind"] == kind for a in self.answers)
        ]
        for answer in self.answers:
            limit = MAX_SECONDS[answer["kind"]]
            if answer["status"] != 200 or answer["seconds"] >= limit:
                faults.append(f"{answer['kind']}: {answer['status']} after {answer['seconds']:.2f} of {limit:.0f} s")
        return faults

    def summary(self) -> str:
        """The slowest answer of each kind."""
        parts = []
        for kind in MAX_SECONDS:
            seconds = [answer["seconds"] for answer in self.answers if answer["kind"] == kind]
            parts.append(f"{kind} {len(seconds)} times, slowest {max(seconds, default=0):.3f} s")
        return "; ".join(parts)


@contextmanager
def watching(folder: Path, url: str, budget_path: str, key: str) -> Iterator[Watcher]:
    """Watch a service during the block."""
    output = folder / "watcher.jsonl"
    script = Path(__file__).with_name("watch_service.py")
    with output.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, str(script), url, budget_path],
            env=os.environ | {"BYSTANDER_KEY": key},
            stdin=subprocess.DEVNULL,
            stdout=file,
        )
    watcher = Watcher(output)
    try:
        yield watcher
    finally:
        assert process.poll() is None, "the watcher ended early"
        process.terminate()
        process.wait()
        watcher.read()
