"""Install the packages of a lock file with pip, and show the progress: `install_packages.py LOCK [OPTION OF PIP …]`."""

import re
import subprocess
import sys
import time
from pathlib import Path

# pip's line about one of the lock file's packages: from the index, from a folder, or installed already.
_PACKAGE = re.compile(r"(?:Collecting|Processing|Requirement already satisfied:) (\S+) .*\(from -r ")
_INSTALLING = "Installing collected packages"
_SECONDS_BETWEEN_LINES = 5  # if the output is not a terminal


def main(lock: str, *options: str) -> int:
    """Install the packages, and return pip's exit status."""
    command = [sys.executable, "-u", "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    command += ["--require-hashes", *options, "-r", lock]
    is_terminal, seen, shown_at = sys.stdout.isatty(), 0, float("-inf")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as pip:  # noqa: S603 - our own command
        for line in pip.stdout or ():
            if package := _PACKAGE.match(line):
                seen += 1
                told = f"package {seen}: {Path(package[1]).name}"
            elif line.startswith(_INSTALLING):
                told = f"unpacking {line.count(',') + 1} packages"
            else:
                continue
            if is_terminal:
                print(f"\r\033[K  {told}", end="", flush=True)
            elif time.monotonic() >= shown_at + _SECONDS_BETWEEN_LINES or line.startswith(_INSTALLING):
                shown_at = time.monotonic()
                print(f"  {told}", flush=True)
    if is_terminal:
        print("\r\033[K", end="", flush=True)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
