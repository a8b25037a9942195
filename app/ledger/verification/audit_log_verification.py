"""Verifies the records of the audit log, and that what acts change agrees with them.

These are principals, requests for budget, collections, and reports with their runs.
Somebody who can write to the database but does not have the secret cannot change a record or create, promote or admit
a principal without being noticed. A principal without a record is reported, and so is one whose role, key, expiry,
subject or display name differs from the records.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from sqlalchemy import bindparam, select

from app.db.session import Session
from app.db.tables import audit, principals
from app.ledger import figures, reports, viewers
from app.ledger.chain.audit_log import canonical_bytes, key_seal
from app.ledger.chain.keyring import Keyring
from app.ledger.verification.budget_request_records import RecordedRequests
from app.ledger.verification.collection_records import RecordedCollections
from app.ledger.verification.report_records import RecordedReports
from app.ledger.verification.results import MAX_PROBLEMS, Problem, Verification

PAGE = 2_000
_PAGE = select(audit).where(audit.c.seq > bindparam("after")).order_by(audit.c.seq).limit(bindparam("most"))
_STORED = select(
    principals.c.name,
    principals.c.role,
    principals.c.disabled_at,
    principals.c.key_hash,
    principals.c.key_expires_at,
    principals.c.issuer,
    principals.c.subject,
    principals.c.display_name,
).order_by(principals.c.id)
_PREFIX = "principals/"
_TOLD = ("role", "key_seal", "key_expires_at", "issuer", "subject", "display_name")


@dataclass(slots=True)
class _RecordedPrincipal:
    """A principal as recomputed from the records so far; `secret_id` is that of the record of its key."""

    facts: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(_TOLD))
    disabled: bool = False
    secret_id: str | None = None

    def step(self, row: Any) -> None:  # noqa: ANN401 - a row of _PAGE
        told = json.loads(row.details)
        self.facts |= {name: told[name] for name in _TOLD if name in told}
        if "key_seal" in told:
            self.secret_id = row.secret_id
        self.disabled = self.disabled or row.action == "principal.disable"


def verify_audit_log(session: Session, keyring: Keyring) -> Verification:
    """Verify all records and all principals in the session's snapshot."""
    return _Verifier(session, keyring).run()


class _Verifier:
    def __init__(self, session: Session, keyring: Keyring) -> None:
        self._session, self._keyring = session, keyring
        self._seq, self._head = 0, None
        self._records = 0
        self._principals: dict[str, _RecordedPrincipal] = {}
        self._requests, self._collections, self._reports = RecordedRequests(), RecordedCollections(), RecordedReports()
        self._recorded = self._requests, self._collections, self._reports
        self._problems: list[Problem] = []

    def run(self) -> Verification:
        for row in self._rows():
            self._records += 1
            wrong = self._check_chain(row) or next(filter(None, (each.step(row) for each in self._recorded)), None)
            if wrong is not None:
                self._problems.append(Problem(row.seq, wrong))
            elif row.action.startswith("principal."):
                self._principals.setdefault(row.target.removeprefix(_PREFIX), _RecordedPrincipal()).step(row)
            self._seq, self._head = row.seq, row.hash
            if len(self._problems) == MAX_PROBLEMS:
                break
        else:
            differing = chain(
                self._wrong_principals(),
                self._requests.find_differing(self._session),
                self._find_strays(),
                self._collections.find_differing(self._session, self._keyring),
                self._reports.find_differing(self._session),
            )
            self._problems += [Problem(None, wrong) for wrong in islice(differing, MAX_PROBLEMS)]
        return Verification(self._records, self._head, tuple(self._problems[:MAX_PROBLEMS]))

    def _rows(self) -> Iterator[Any]:
        after = 0
        while page := self._session.rows(_PAGE, after=after, most=PAGE):
            yield from page
            after = page[-1].seq

    def _check_chain(self, row: Any) -> str | None:  # noqa: ANN401 - a row of _PAGE
        if row.seq != self._seq + 1:
            return f"follows record {self._seq}: the records between them are missing"
        if row.previous_hash != self._head:
            return "does not contain the hash of the record before it"
        seal = self._keyring.find(row.secret_id)
        if seal is None:
            return "was sealed with a secret that is not configured here"
        if seal.hash(canonical_bytes(*row[:-1])) != row.hash:
            return "was changed after it was sealed: its hash differs"
        return None

    def _find_strays(self) -> Iterator[str]:
        for what, query in (figures.STRAYS | viewers.STRAYS | reports.STRAYS).items():
            if self._session.row(query) is not None:
                yield f"a {what} belongs to nothing: it was changed, or what it belonged to"

    def _wrong_principals(self) -> Iterator[str]:
        stored = {row.name: row for row in self._session.rows(_STORED)}
        for name, row in stored.items():
            recorded = self._principals.get(name)
            if recorded is None:
                yield f"the principal {name} was created without a record"
            elif self._facts(row, recorded) != recorded.facts or recorded.disabled != (row.disabled_at is not None):
                yield f"the principal {name} differs from what the records say"
        for name in self._principals.keys() - stored.keys():
            yield f"the principal {name} is missing"

    def _facts(self, row: Any, recorded: _RecordedPrincipal) -> dict[str, Any]:  # noqa: ANN401 - a row of _STORED
        seal = self._keyring.find(recorded.secret_id)
        sealed = None if row.key_hash is None or seal is None else key_seal(seal, row.key_hash)
        stored = row.role, sealed, row.key_expires_at, row.issuer, row.subject, row.display_name
        facts = dict(zip(_TOLD, stored, strict=True))
        return facts if row.key_hash is None or seal is not None else facts | {"key_seal": "unknown"}
