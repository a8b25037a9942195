"""Python sessions in docstrings and pages (`>>> …`), run as a notebook would: `await` may stand anywhere."""

import ast
import asyncio
import doctest
import io
import re
from typing import Any

_HASH = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{64}\b")
_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")


def masked(text: str) -> str:
    """The text with all numbers, ids and hashes alike, and with what their lengths decide: spaces and rules."""
    return re.sub("─+", "─", re.sub(" +", " ", _NUMBER.sub("0", _HASH.sub("0", text))))


class _Noisy(doctest.OutputChecker):
    """Takes any number where there is a number: noise decides them."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(masked(want), masked(got), optionflags)


def run(name: str, text: str, names: dict[str, Any], loop: asyncio.Runner, *, noisy: bool = False) -> int:
    """Run a session with these names, which it may change; how many examples it had.

    Raises:
        AssertionError: it went otherwise than it is told.
    """

    def of_notebook(source: str) -> None:
        code = compile(source, f"<{name}>", "single", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        coroutine = eval(code, names)  # noqa: S307 - the project's own text
        if asyncio.iscoroutine(coroutine):
            loop.run(coroutine)

    names |= {"_run_source": of_notebook}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    test.globs = names  # the parser copies them
    for example in test.examples:
        if re.search(r"\b(await|async)\b", example.source):
            example.source = f"_run_source({example.source!r})\n"
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    told = io.StringIO()
    runner = doctest.DocTestRunner(checker=_Noisy() if noisy else None, optionflags=flags)
    failures = runner.run(test, out=told.write, clear_globs=False).failed
    assert not failures, told.getvalue()
    return len(test.examples)
