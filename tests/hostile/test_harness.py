"""The harness itself: it sees a service that is killed for its memory, and one that does not answer."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from hostile_world import Target
from memory_limit import limited_memory
from service_world import becomes
from watcher import MAX_SECONDS

ALLOCATE = "import sys; block = bytearray(int(sys.argv[1])); print(len(block))"
ALLOCATE_IN_CHILD = (
    f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {ALLOCATE!r}, sys.argv[1]]).returncode)"
)


@pytest.mark.parametrize("program", [ALLOCATE, ALLOCATE_IN_CHILD], ids=["process", "child"])
def test_more_memory_than_the_limit_is_seen(program: str) -> None:
    with limited_memory(2**27) as memory:
        command = [*memory.launcher, sys.executable, "-c", program]
        assert subprocess.run([*command, str(2**25)], check=False).returncode == 0  # noqa: S603
        assert memory.kills() == 0
        assert subprocess.run([*command, str(2**28)], check=False, stderr=subprocess.DEVNULL).returncode != 0  # noqa: S603
        assert memory.cgroup is None or memory.kills() == 1


def freeze(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(MAX_SECONDS["health"] + 2)
    os.kill(pid, signal.SIGCONT)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("attack", "fault"), [(freeze, "health: 200 after"), (kill, "the service has ended")], ids=["frozen", "killed"]
)
def test_a_service_that_does_not_answer_is_seen(
    start: Callable[..., AbstractContextManager[Target]], attack: Callable[[int], None], fault: str
) -> None:
    def run() -> None:
        with start() as target:
            attack(target.service.pid)
            assert becomes(lambda: any(fault in each for each in target.faults()))  # a late answer is written down late

    with pytest.raises(AssertionError, match=fault):
        run()
