"""The budgets of datasets: limits, allowances, spending and the ledger's entries."""

from app.db.clock import now
from app.db.repositories import principals
from app.db.repositories.principals import Principal
from app.db.session import WriteSession
from app.errors import NO_PRINCIPAL, InvalidRequestError, NotFoundError
from app.ledger import accounts, allowances, budget_requests, report_runs
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.chain import entries, facts
from app.ledger.chain.entries import Entry
from app.ledger.units import epsilon_text
from app.roles import WITHOUT_ALLOWANCE
from app.services import audit_records
from app.services.access import Access
from app.services.context import Services
from app.services.names import is_name
from app.services.preconditions import Precondition
from app.services.rendering.documents import Document
from app.services.reports.run_queue import QUEUED


def budget_figures(account: Account | Allowance) -> Document:
    """Return the limit, the spending and the remaining budget of an account or an allowance."""
    return {
        "epsilon_limit": epsilon_text(account.limit_nano),
        "epsilon_spent": epsilon_text(account.spent_nano),
        "epsilon_remaining": epsilon_text(account.remaining_nano),
    }


def allowance_document(allowance: Allowance) -> Document:
    """Return an allowance's figures and its current window, if it has one."""
    window = allowance.window
    return budget_figures(allowance) | {
        "window": None
        if window is None
        else {"days": window.days, "started_at": window.started_at, "ends_at": window.ends_at}
    }


def budget_document(services: Services, entered: Access) -> Document:
    """Return the account's figures, the caller's allowance and, for the owner, admins and auditors, all allowances."""
    with services.database.read() as session:
        account = accounts.find_account(session, entered.dataset.id)
        own = allowances.find_allowance(session, entered.dataset.id, entered.principal.id)
        document = budget_figures(account) | {"allowance": None if own is None else allowance_document(own)}
        if entered.oversees:
            display_names = allowances.list_display_names(session, entered.dataset.id)
            document["allowances"] = [
                {"principal": allowance.principal, "display_name": display_names.get(allowance.principal_id)}
                | allowance_document(allowance)
                | {"revoked": allowance.revoked}
                for allowance in allowances.list_allowances(session, entered.dataset.id)
            ]
            document["open_requests"] = budget_requests.count_open_requests(session, entered.dataset.id)
    return document


def limit_document(dataset: str, account: Account) -> Document:
    """Return the limit of a dataset's account: what an adjustment replaces."""
    return {"dataset": dataset, "epsilon_limit": epsilon_text(account.limit_nano)}


def _granted_document(dataset: str, allowance: Allowance) -> Document:
    """Return an allowance as it was granted, without the spending: what the next grant replaces."""
    return {
        "dataset": dataset,
        "principal": allowance.principal,
        "epsilon_limit": epsilon_text(allowance.limit_nano),
        "window_days": None if allowance.window is None else allowance.window.days,
    }


def describe_allowance(services: Services, entered: Access, name: str) -> Document:
    """Return a principal's allowance as it was granted; everybody may see their own.

    Raises:
        ForbiddenError: the allowance is another principal's, and the caller does not oversee the dataset.
        NotFoundError: the principal does not exist or has no allowance.
    """
    if name != entered.principal.name:
        entered.require_oversight()
    principal = _find_principal(services, name)
    with services.database.read() as session:
        allowance = allowances.find_allowance(session, entered.dataset.id, principal.id)
    if allowance is None:
        raise NotFoundError
    return _granted_document(entered.dataset.name, allowance)


def _require_match(
    transaction: WriteSession, entered: Access, principal: Principal, wanted: Precondition
) -> Allowance | None:
    """Return a principal's present allowance, if it is as `wanted`. The account must be locked."""
    present = allowances.find_allowance(transaction, entered.dataset.id, principal.id)
    wanted.require_document(None if present is None else _granted_document(entered.dataset.name, present))
    return present


def _find_principal(services: Services, name: str) -> Principal:
    with services.database.read() as session:
        principal = principals.find_by_name(session, name) if is_name(name) else None
    if principal is None:
        raise NotFoundError(NO_PRINCIPAL)
    return principal


def _allowance_path(entered: Access, principal: Principal) -> str:
    return f"{audit_records.dataset_path(entered.dataset.name)}/allowances/{principal.name}"


def list_grantees(
    services: Services, after: str | None, limit: int, *, newest: bool, to_view: bool = False
) -> list[Document]:
    """Return a page of the principals that may get an allowance, or of those that may be made viewers."""
    list_page = principals.page_of_possible_viewers if to_view else principals.page_of_grantees
    with services.database.read() as session:
        found = list_page(session, after, limit, newest=newest)
    return [{"name": each.name, "display_name": each.display_name, "role": each.role} for each in found]


def grant_allowance(  # noqa: PLR0913, PLR0917 - who grants whom what, and in place of what
    services: Services,
    entered: Access,
    principal: Principal,
    limit_nano: int,
    window_days: int | None,
    wanted: Precondition,
) -> tuple[Document, bool]:
    """Grant or change an allowance: a limit on the dataset, in total or in each window of days.

    Returns:
        The budget, and whether the principal had no allowance before.

    Raises:
        PreconditionFailedError, AlreadyExistsError: the present allowance is not as `wanted`.
        DatasetClosedError, DatasetStaleError: the dataset is closed or stale.
        SealBrokenError: the dataset's account does not match its seal.
        InvalidRequestError: the principal is an auditor or a viewer, or has already spent more than the limit.
    """
    if principal.role in WITHOUT_ALLOWANCE:
        raise InvalidRequestError(("principal", f"has the role {principal.role}: it reads, and has no allowances"))
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_open_account(transaction, entered.dataset.id))
        seal, told = services.keyring.seal, {"epsilon_limit": epsilon_text(limit_nano), "window_days": window_days}
        before = _require_match(transaction, entered, principal, wanted)
        allowances.grant_allowance(transaction, seal, entered.dataset.id, principal, limit_nano, now(), window_days)
        report_runs.queue_unfinished(transaction, services.keyring, entered.dataset.id)
        target = _allowance_path(entered, principal)
        audit_records.record(transaction, seal, entered.principal, "allowance.grant", target, **told)
        transaction.commit()
    QUEUED.set()
    return budget_document(services, entered), before is None


def revoke_allowance(services: Services, entered: Access, name: str, wanted: Precondition) -> None:
    """Revoke a principal's access to the dataset; its spending is kept.

    Raises:
        PreconditionFailedError: the present allowance is not as `wanted`.
        NotFoundError: the principal does not exist or has no access.
        SealBrokenError: the dataset's account does not match its seal.
    """
    principal = _find_principal(services, name)
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_account(transaction, entered.dataset.id))
        _require_match(transaction, entered, principal, wanted)
        seal, target = services.keyring.seal, _allowance_path(entered, principal)
        allowances.revoke_allowance(transaction, seal, entered.dataset.id, principal, now())
        audit_records.record(transaction, seal, entered.principal, "allowance.revoke", target)
        transaction.commit()


def adjust_limit(
    services: Services, entered: Access, limit_nano: int, reason: str, wanted: Precondition
) -> tuple[Document, int]:
    """Change the dataset's limit.

    Returns:
        The budget, and the number of the ledger's new entry.

    Raises:
        PreconditionFailedError: the present limit is not as `wanted`.
        DatasetClosedError, DatasetStaleError: the dataset is closed or stale.
        SealBrokenError: the dataset's account does not match its seal.
        InvalidRequestError: the limit is below what is already spent.
    """
    with services.database.write() as transaction:
        present = accounts.lock_open_account(transaction, entered.dataset.id)
        facts.require_account_sealed(services.keyring, present)
        wanted.require_document(limit_document(entered.dataset.name, present))
        principal, seal = entered.principal, services.keyring.seal
        by = principal.name
        adjusted = accounts.adjust_limit(transaction, seal, entered.dataset.id, limit_nano, by, reason, now())
        report_runs.queue_unfinished(transaction, services.keyring, entered.dataset.id)
        target, limit = audit_records.dataset_path(entered.dataset.name), epsilon_text(limit_nano)
        audit_records.record(transaction, seal, principal, "budget.adjust", target, epsilon_limit=limit)
        transaction.commit()
    QUEUED.set()
    return budget_document(services, entered), adjusted.last_seq


def list_entries(
    services: Services, entered: Access, after: int | None, limit: int, *, newest: bool = False
) -> list[Document]:
    """Return a page of the dataset's ledger, oldest or newest first, with all members that the hashes cover."""
    with services.database.read() as session:
        page = entries.page_of_entries(session, entered.dataset.id, after, limit, newest=newest)
    return [_entry_document(entry) for entry in page]


def describe_entry(services: Services, entered: Access, number: int) -> Document:
    """Return one entry of the dataset's ledger.

    Raises:
        NotFoundError: there is no entry with this number.
    """
    for entry in list_entries(services, entered, number - 1, 1):
        if entry["seq"] == number:
            return entry
    raise NotFoundError


def _entry_document(entry: Entry) -> Document:
    return {
        "seq": entry.seq,
        "kind": entry.kind,
        "principal": entry.principal,
        "epsilon": epsilon_text(entry.epsilon_nano),
        "epsilon_spent": epsilon_text(entry.spent_nano),
        "release_id": entry.release_id,
        "at": entry.at,
        "previous_hash": None if entry.previous_hash is None else entry.previous_hash.hex(),
        "hash": None if entry.hash is None else entry.hash.hex(),
        "reason": entry.reason,
        "window_days": entry.window_days,
        "answer_hash": None if entry.answer_hash is None else entry.answer_hash.hex(),
        "secret_id": entry.secret_id,
        "facts_hash": None if entry.facts_hash is None else entry.facts_hash.hex(),
    }
