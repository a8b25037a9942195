"""Every target for some seconds, from the seeds and what earlier runs found; exit status 1 if one crashed.

Run: python tests/fuzzing/run.py SECONDS [TARGET …]
"""

import os
import subprocess
import sys
from pathlib import Path

from targets import TARGETS

HERE = Path(__file__).parent
FOUND = HERE.parents[1] / "var" / "fuzzing"  # inputs that reach something new, and those that crash
WORKERS = os.cpu_count() or 1


def _command(target: str, seconds: int) -> list[str]:
    corpus, crashes = FOUND / target, FOUND / "crashes"
    for folder in (corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-max_len=4096",
        "-print_final_stats=1",
    ]
    options += [f"-artifact_prefix={crashes}/{target}-", f"-dict={HERE / 'words.dict'}"]
    return [sys.executable, str(HERE / "fuzz.py"), target, *options, str(corpus), str(HERE / "seeds" / target)]


def main(seconds: int, targets: list[str]) -> int:
    """Fuzz the targets, as many at a time as there are processors; how many crashed."""
    try:
        import atheris  # noqa: F401, PLC0415 - not for every platform
    except ImportError:
        print("atheris cannot be installed here: nothing was fuzzed")
        return 1
    waiting, crashed = targets or list(TARGETS), 0
    running: dict[str, subprocess.Popen[str]] = {}
    while waiting or running:
        while waiting and len(running) < WORKERS:
            target = waiting.pop(0)
            running[target] = subprocess.Popen(  # noqa: S603
                _command(target, seconds), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        target = next(iter(running))
        process = running.pop(target)
        told = process.communicate()[1]
        executed = [line.split()[-1] for line in told.splitlines() if "number_of_executed_units" in line]
        print(
            f"{target}: {'no crash' if process.returncode == 0 else 'CRASHED'}, {''.join(executed) or 'unknown'} inputs"
        )
        if process.returncode != 0:
            print(told[-5000:])
            crashed += 1
    return crashed


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]), sys.argv[2:]) else 0)
