"""`snapledger budget-request …`."""

from typing import Annotated

import typer

from snapledger_client import BudgetRequest
from snapledger_client.cli import output
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import DatasetName, connect
from snapledger_client.formatting import format_person

RequestId = Annotated[str, typer.Argument(help="The id of the request, as `budget-request list` shows it.")]
AnswerText = Annotated[str | None, typer.Option("--answer", help="What to say to who asked.", metavar="TEXT")]


def _describe(request: BudgetRequest) -> str:
    if request.granted is not None:
        return f"granted: ε {request.granted:f} more"
    return request.state


def _write_request(output_format: OutputFormat, request: BudgetRequest) -> None:
    def show() -> None:
        output.print_line(
            f"The request {request.id} for ε {request.epsilon:f} on {request.dataset} is {_describe(request)}."
        )

    output.write(output_format, request.to_dict(), show)


def ask(
    dataset: DatasetName,
    epsilon: Annotated[str, typer.Argument(help="By how much ε your allowance should be raised.")],
    reason: Annotated[str, typer.Option(help="Why, in a sentence: the owner reads it, and it is recorded.")],
    *,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Ask a dataset's owner to raise your allowance; one request at a time."""
    with connect() as client:
        found = client.dataset(dataset).request_budget(epsilon, reason)
    _write_request(output_format, found)


def list_requests(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List requests for budget, oldest first: all for the dataset's owner, otherwise your own."""
    with connect() as client:
        found = list(client.dataset(dataset).budget_requests())

    def show() -> None:
        rows = [
            (
                each.id,
                f"{each.created_at:%Y-%m-%d}",
                format_person(each.principal, each.display_name),
                f"{each.epsilon:f}",
                each.reason,
                _describe(each),
                each.answer or "",
            )
            for each in found
        ]
        output.print_table(("request", "at", "principal", "ε", "reason", "state", "answer"), rows, ("ε",))

    output.write_list(output_format, "budget_requests", found, show, BudgetRequest)


def show_request(dataset: DatasetName, request: RequestId, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show one request for budget."""
    with connect() as client:
        found = client.dataset(dataset).budget_request(request)
    _write_request(output_format, found)


def grant(
    dataset: DatasetName,
    request: RequestId,
    epsilon: Annotated[
        str | None, typer.Option(help="By how much to raise the allowance, if not by what was asked.")
    ] = None,
    answer: AnswerText = None,
    *,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Grant a request: raise the allowance. Nothing is debited."""
    with connect() as client:
        found = client.dataset(dataset).grant_request(request, epsilon, answer)
    _write_request(output_format, found)


def decline(
    dataset: DatasetName, request: RequestId, answer: AnswerText = None, *, output_format: FormatOf = OutputFormat.TABLE
) -> None:
    """Decline a request."""
    with connect() as client:
        found = client.dataset(dataset).decline_request(request, answer)
    _write_request(output_format, found)
