"""One target under atheris; all arguments but the first are libFuzzer's.

Run: python tests/fuzzing/fuzz.py TARGET [OPTION …] [CORPUS …]
"""

import sys

import atheris

with atheris.instrument_imports(include=["app", "json", "csv", "fractions"]):
    from targets import TARGETS


def main() -> None:
    """Fuzz until libFuzzer ends the process."""
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
