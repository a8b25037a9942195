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

MAX_SECONDS = {"health": 1.0, "budget": 2.0}
MAX_FACTOR = 8.0


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
        """Answers that failed or came too late, in words.

        What programs outside of the test run take of the processors is taken off: where they have half of them, an
        answer may take twice as long, and never more than eight times as long.
        """
        faults = [
            f"{kind}: no answer at all" for kind in MAX_SECONDS if not any(a["kind"] == kind for a in self.answers)
        ]
        for answer in self.answers:
            factor = min(MAX_FACTOR, 1 / max(1 - answer["others"], 1 / MAX_FACTOR))
            limit = MAX_SECONDS[answer["kind"]] * factor
            if answer["status"] != 200 or answer["seconds"] >= limit:
                faults.append(f"{answer['kind']}: {answer['status']} after {answer['seconds']:.2f} of {limit:.2f} s")
        return faults

    def summary(self) -> str:
        """The slowest answer of each kind."""
        parts = []
        for kind in MAX_SECONDS:
            seconds = [answer["seconds"] for answer in self.answers if answer["kind"] == kind]
            parts.append(f"{kind} {len(seconds)} times, slowest {max(seconds, default=0):.3f} s")
        others = [answer["others"] for answer in self.answers]
        return "; ".join(parts) + f"; other programs took up to {max(others, default=0):.0%} of the processors"


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
