"""The output of verifications, of a dataset's ledger and of the audit log."""

import typer

from snapledger_client import Verification, VerificationSummary
from snapledger_client.cli import output
from snapledger_client.cli.output import OutputFormat


def write_verification(output_format: OutputFormat, found: Verification, what: str, entry: str) -> None:
    """Print the result of a verification; exit with status 1 if it is not valid.

    Args:
        output_format: the format.
        found: the result.
        what: what was verified, in words.
        entry: what its entries are called.
    """

    def show() -> None:
        for problem in found.problems:
            output.print_line(f"{what if problem.seq is None else f'{entry} {problem.seq}'}: {problem.what}")
        state = "valid" if found.valid else "NOT VALID"
        head = "" if found.head is None else f", head {found.head}"
        output.print_line(f"{what}: {state}, {found.entries:,} entries{head}")

    document = found.to_dict()
    summary = {name: each for name, each in document.items() if name != "problems"}
    problems = [summary | {"problem": each} for each in document["problems"]]
    output.write(output_format, document, show, problems or [summary])
    if not found.valid:
        raise typer.Exit(1)


def write_latest_verification(output_format: OutputFormat, found: VerificationSummary | None, never: str) -> None:
    """Print when something was verified last, and what was found; `never` is the sentence if it never was."""

    def show() -> None:
        if found is None:
            output.print_line(never)
            return
        by = found.actor if found.via == "principal" else f"the {found.via}"
        state = "valid" if found.valid else "NOT VALID"
        output.print_line(f"Verified at {found.at:%Y-%m-%d %H:%M:%S} by {by}: {state}, {found.entries} entries.")

    document = None if found is None else found.to_dict()
    records = [] if document is None else [document]
    output.write(output_format, {"latest": document}, show, records, VerificationSummary)
