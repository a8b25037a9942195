"""`snapledger acts …`: the audit log of administrative acts."""

from snapledger_client import AuditRecord
from snapledger_client.cli import output
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import connect
from snapledger_client.cli.verifications import write_latest_verification, write_verification


def _find_actor(record: AuditRecord) -> str:
    return record.actor if record.via == "principal" and record.actor else record.via


def list_acts(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the audit log of administrative acts, oldest first; for admins and auditors."""
    with connect() as client:
        records = list(client.audit())

    def show() -> None:
        rows = [
            (each.seq, f"{each.at:%Y-%m-%d %H:%M:%S}", _find_actor(each), each.action, each.target or "")
            for each in records
        ]
        output.print_table(("act", "at", "by", "what", "of"), rows, ("act",))

    output.write_list(output_format, "records", records, show, AuditRecord)


def verify(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Let the service verify the audit log, and compare every principal with it; exit status 1 on any problem."""
    with connect() as client:
        found = client.verify_audit()
    write_verification(output_format, found, "the audit log", "act")


def show_verification(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show when the audit log was verified last, by whom, and what was found; for admins and auditors."""
    with connect() as client:
        found = client.latest_audit_verification()
    write_latest_verification(output_format, found, "The audit log was never verified while the service ran.")
