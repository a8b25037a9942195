"""The command line in this process, which takes a thousandth of the time of a new one."""

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

from app.cli import service_commands


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


def run(*arguments: str, **settings: str) -> Done:
    """`snapledger …` with these settings and no others."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAPLEDGER_")}
    environment |= {f"SNAPLEDGER_{name}": value for name, value in settings.items()}
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch("sys.argv", ["snapledger", *arguments]),
        mock.patch("uvicorn.run", side_effect=AssertionError("a service is not to start here")),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            service_commands.main()
        except SystemExit as end:
            status = int(end.code or 0)
    return Done(status, out.getvalue(), err.getvalue())


def refused(done: Done, *told: str) -> None:
    """Assert that a command failed, and said why in one line with these words."""
    assert (done.status, done.out) == (1, ""), done
    assert len(done.err.splitlines()) == 1, done.err
    for words in told:
        assert words in done.err, done.err
