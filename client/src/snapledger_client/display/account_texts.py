"""Renders single entries, acts, principals, allowances and requests as text, and as rows of frames."""

from datetime import datetime
from typing import Any

from snapledger_client.display.listings import make_entry_row
from snapledger_client.formatting import format_person
from snapledger_client.models.accounts import (
    AuditRecord,
    BudgetRequest,
    Entry,
    GrantedAllowance,
    Grantee,
    IssuedKey,
    Limit,
    Principal,
    VerificationSummary,
)
from snapledger_client.models.base import list_records, render_text
from snapledger_client.rounding import format_epsilon


def format_time(time: datetime) -> str:
    """Return a time of the service for reading."""
    return f"{time:%Y-%m-%d %H:%M} UTC"


@render_text.register
def describe_entry(entry: Entry) -> str:
    """Return an entry of a ledger without its hashes, and its reason on a line of its own."""
    spent = format_epsilon(entry.epsilon_spent)
    told = f"entry {entry.seq:,}: {entry.kind} by {entry.principal}, ε = {format_epsilon(entry.epsilon)}"
    lines = (f"{told}; {spent} spent in total; {format_time(entry.at)}", entry.reason)
    return "\n".join(filter(None, lines))


@render_text.register
def describe_act(record: AuditRecord) -> str:
    """Return an administrative act, and its details on a line of their own."""
    of = "" if record.target is None else f" of {record.target}"
    told = f"act {record.seq:,}: {record.action}{of} by {record.actor or f'a {record.via}'}; {format_time(record.at)}"
    details = ", ".join(f"{name}: {value}" for name, value in record.details.items() if value is not None)
    return "\n".join(filter(None, (told, details)))


@render_text.register
def describe_principal(principal: Principal) -> str:
    """Return who a principal is, and until when its key is valid; never the key."""
    told = [f"{format_person(principal.name, principal.display_name)}, {principal.role}"]
    if principal.disabled:
        told.append("disabled")
    elif principal.key_expires_at is not None:
        told.append(f"the key expires at {format_time(principal.key_expires_at)}")
    if isinstance(principal, IssuedKey):
        told.append("`key` has the new key, which the service shows only once")
    return "; ".join(told)


@render_text.register
def describe_grantee(grantee: Grantee) -> str:
    """Return who may get an allowance."""
    return f"{format_person(grantee.name, grantee.display_name)}, {grantee.role}"


@render_text.register
def describe_request(request: BudgetRequest) -> str:
    """Return who asks for how much and why, and what was answered."""
    person = format_person(request.principal, request.display_name)
    lines = [f"{person} asks for ε = {format_epsilon(request.epsilon)} of {request.dataset}: {request.reason}"]
    if request.answered_at is None:
        lines.append(f"{request.state} since {format_time(request.created_at)}")
        return "\n".join(lines)
    granted = "" if request.granted is None else f" ε = {format_epsilon(request.granted)}"
    by = "" if request.answered_by is None else f" by {request.answered_by}"
    answer = "" if request.answer is None else f": {request.answer}"
    return "\n".join([*lines, f"{request.state}{granted}{by}, {format_time(request.answered_at)}{answer}"])


@render_text.register
def describe_granted(granted: GrantedAllowance) -> str:
    """Return how much a principal may spend."""
    days = "" if granted.window_days is None else f" every {granted.window_days:,} days"
    return f"{granted.principal} may spend ε = {format_epsilon(granted.epsilon_limit)} on {granted.dataset}{days}"


@render_text.register
def describe_limit(limit: Limit) -> str:
    """Return how much may be spent on a dataset."""
    return f"ε = {format_epsilon(limit.epsilon_limit)} may be spent on {limit.dataset} in its whole life"


@render_text.register
def describe_latest(summary: VerificationSummary) -> str:
    """Return what a verification found, and when."""
    found = "valid" if summary.valid else f"not valid: {summary.problems:,} problems"
    by = summary.actor or f"a {summary.via}"
    return f"{found}; {summary.entries:,} entries, verified by {by} at {format_time(summary.at)}"


@list_records.register(Entry)
@list_records.register(AuditRecord)
def list_entry(entry: Entry | AuditRecord) -> list[dict[str, Any]]:
    """Return one row, without the hashes."""
    return [make_entry_row(entry)]


@list_records.register
def list_issued(issued: IssuedKey) -> list[dict[str, Any]]:
    """Return one row, without the key."""
    return [issued.model_dump(exclude_unset=True, exclude={"key"})]
