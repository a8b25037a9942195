"""Ask a service for its health and for a bystander's budget, again and again; a JSON line for each answer.

A process of its own, so that neither the interpreter of the attacker nor its sockets delay what it measures:
`watch_service.py URL BUDGET_PATH` with the bystander's key in the environment variable BYSTANDER_KEY. It
ends with the process that started it, or by SIGTERM.
"""

import http.client
import json
import os
import sys
import threading
import time
from urllib.parse import urlsplit

PAUSE_SECONDS = {"health": 0.1, "budget": 0.2}
TIMEOUT_SECONDS = 60

_print_lock = threading.Lock()


def ask(host: str, port: int, path: str, headers: dict[str, str]) -> int | str:
    """The status of an answer on a connection of its own, or what went wrong."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        response.read()
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        connection.close()
    return response.status


def watch(kind: str, url: str, path: str, headers: dict[str, str]) -> None:
    """Ask for ever."""
    parts = urlsplit(url)
    while True:
        start = time.monotonic()
        status = ask(parts.hostname or "", parts.port or 80, path, headers)
        line = {"kind": kind, "status": status, "seconds": time.monotonic() - start}
        with _print_lock:
            print(json.dumps(line), flush=True)  # noqa: T201 - that is its output
        time.sleep(PAUSE_SECONDS[kind])


def main() -> None:
    """Watch until the process that started this one has gone."""
    url, budget_path = sys.argv[1:]
    parent = os.getppid()
    authorization = {"Authorization": f"Bearer {os.environ['BYSTANDER_KEY']}"}
    for kind, path, headers in (("health", "/healthz", {}), ("budget", budget_path, authorization)):
        threading.Thread(target=watch, args=(kind, url, path, headers), daemon=True).start()
    while os.getppid() == parent:
        time.sleep(0.5)


if __name__ == "__main__":
    main()
