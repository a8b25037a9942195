"""Commits a request in one transaction: its idempotency row, debits, entries, releases and answer."""

from collections.abc import Mapping

from app.db.clock import now
from app.db.session import WriteSession
from app.errors import NO_ALLOWANCE, BudgetExhaustedError, ForbiddenError, SnapledgerError, UnavailableError
from app.ledger import accounts, allowances, held_accounts
from app.ledger.account import Account
from app.ledger.allowances import Allowance
from app.ledger.answers import idempotency, releases
from app.ledger.answers.answer_storage import store
from app.ledger.answers.idempotency import Claim
from app.ledger.answers.releases import Release
from app.ledger.chain import entries
from app.services.access import Access
from app.services.context import Services
from app.services.planning.questions import Plan
from app.services.releasing import reuse
from app.services.releasing.charges import list_charges
from app.services.releasing.release_requests import CREATED, OK, OnSettled, PlannedRequest, SettledRequest
from app.services.releasing.replays import IdempotencyKey
from app.services.releasing.reuse import EarlierRelease
from app.services.releasing.storage_limits import ROW_BYTES, require_storage
from app.services.rendering.release_answers import PreparedRelease, SettledRelease

Prepared = Mapping[int, PreparedRelease]
"""The prepared releases by the position of their question; no entry if another question's release answers it."""


def require_budget(account: Account, allowance: Allowance | None, cost_nano: int) -> None:
    """Refuse a cost that the account or the allowance cannot pay.

    Raises:
        BudgetExhaustedError: names the one of the two that has less left, and says how much.
        ForbiddenError: there is no allowance.
    """
    if allowance is None:
        raise ForbiddenError(NO_ALLOWANCE)
    if cost_nano > min(account.remaining_nano, allowance.remaining_nano):
        if allowance.remaining_nano < account.remaining_nano:
            raise allowance.refusal(cost_nano)
        raise BudgetExhaustedError("dataset", cost_nano, account.remaining_nano, account.limit_nano)


class ReleaseTransaction:
    """Answers a request in one transaction, with its steps always in the same order.

    Args:
        services: the services, with the settings and the keyring.
        access: the caller's access to the dataset.
        request: the plans of the request's questions.
        key: the idempotency key that the answer is bound to, if there is one.
        may_reuse: whether earlier releases may answer.
        on_settled: called before the commit, if it is given.
        transaction: the database session to write with.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - all of it belongs to one request
        self,
        services: Services,
        access: Access,
        request: PlannedRequest,
        key: IdempotencyKey | None,
        may_reuse: bool,  # noqa: FBT001
        on_settled: OnSettled | None,
        transaction: WriteSession,
    ) -> None:
        self._services, self._access, self._request = services, access, request
        self._may_reuse, self._on_settled, self._transaction = may_reuse, on_settled, transaction
        self._seal, self._at = services.keyring.seal, now()
        self._claim = None if key is None else Claim(access.principal.id, key.text, key.fingerprint, self._at)
        self._balance: tuple[Account, Allowance | None] | None = None

    def commit(self, prepared: Prepared) -> SettledRequest | None:
        """Answer the request and commit. Nobody may see the answer before this has returned.

        Returns:
            The answer; None if a concurrent request with the same idempotency key has committed first.

        Raises:
            UnavailableError: the prepared releases no longer match what the transaction needs.
            As `require_budget`, `accounts.debit`, `allowances.debit` and `require_storage`.
        """
        # There is at least one: no other question's release answers the most demanding question.
        first = next(iter(prepared.values())).release_id
        held_accounts.hold(self._transaction, self._access.dataset.id, self._access.principal.id)
        if not self._claim_key(first):
            return None
        try:
            settled = self._settle(prepared)
        except SnapledgerError:
            if self._claim is not None and idempotency.is_taken(self._transaction, self._claim):
                return None  # whoever has the key may have paid with what is missing now
            raise
        if self._on_settled is not None:
            self._on_settled(self._transaction, settled.releases)
        self._transaction.commit()
        return settled

    def _claim_key(self, release_id: str) -> bool:
        """Claim the request's key, if it has one; return whether no other request has it."""
        if self._claim is None:
            return True
        return idempotency.claim_key(self._transaction, self._seal, self._claim, release_id, CREATED)

    def _settle(self, prepared: Prepared) -> SettledRequest:
        known = [each for _, each in sorted(prepared.items()) if each.reused]
        if len(known) == len(self._request.plans):  # nothing is debited, and no release is ever deleted
            settled = [self._settle_reused(each) for each in known]
        else:
            settled = self._settle_fresh(prepared)
        if self._request.compose is None:
            return SettledRequest(settled, None)
        body = self._request.compose(settled, *self._read_balance(), self._transaction)
        request = SettledRequest(settled, body)
        if self._claim is not None:
            answer = store(body)
            self._count_stored(len(answer.content))
            idempotency.replace_answer(
                *(self._transaction, self._seal, self._claim),
                *(settled[0].release.release_id, request.status, answer),
            )
        return request

    def _settle_fresh(self, prepared: Prepared) -> list[SettledRelease]:
        """Look again at which questions earlier releases answer, and debit the others."""
        plans, earlier = self._request.plans, self._find_earlier(prepared)
        charges = list_charges(plans, earlier)
        cost_nano = sum(charges)
        if cost_nano and len(earlier) > 1:  # before any debit, so that the refusal names the total cost
            require_budget(*self._read_balance(), cost_nano)
        # Debits first: what is drawn for a question may answer another that stands before it.
        fresh = {
            place: self._debit(prepared.get(place), charges[place])
            for place, known in enumerate(earlier)
            if known is None
        }
        return [
            fresh[place] if known is None else self._reuse(prepared.get(place), plans[place], known)
            for place, known in enumerate(earlier)
        ]

    def _find_earlier(self, prepared: Prepared) -> list[EarlierRelease | None]:
        """Find the earlier releases; the transaction holds the account's lock, so nobody else releases meanwhile."""
        plans, dataset = self._request.plans, self._access.dataset
        if self._may_reuse or len(plans) > 1:  # otherwise the debit itself requires it
            accounts.require_open(self._transaction, dataset.id)
        if not self._may_reuse:
            return [None] * len(plans)
        draws = {place: each.release_id for place, each in prepared.items() if not each.reused}
        return reuse.find_earlier_releases(self._transaction, dataset, plans, draws)

    def _read_balance(self) -> tuple[Account, Allowance | None]:
        """Return the account and the caller's allowance as this transaction sees them."""
        if self._balance is None:
            dataset_id, principal_id = self._access.dataset.id, self._access.principal.id
            self._balance = (
                held_accounts.hold_account(self._transaction, dataset_id)[0],
                allowances.hold_allowance(self._transaction, dataset_id, principal_id),
            )
        return self._balance

    def _reuse(self, prepared: PreparedRelease | None, plan: Plan, earlier: EarlierRelease) -> SettledRelease:
        if prepared is None or prepared.release_id != earlier.release_id:
            prepared = reuse.open_earlier_release(self._transaction, self._services.keyring, earlier, plan)
        return self._settle_reused(prepared)

    def _settle_reused(self, prepared: PreparedRelease) -> SettledRelease:
        if self._claim is None or self._request.compose is not None:
            return prepared.settle(0, *self._read_balance())
        settled = prepared.settle(0, *self._count_stored(prepared.opening.stored_bytes))
        answered = prepared.release_id, OK, settled.answer
        idempotency.replace_answer(self._transaction, self._seal, self._claim, *answered)
        return settled

    def _count_stored(self, stored_bytes: int) -> tuple[Account, Allowance | None]:
        """Count the bytes stored for an answer besides its releases; return the account and the allowance after it."""
        added, dataset_id = stored_bytes + ROW_BYTES, self._access.dataset.id
        account = accounts.store(self._transaction, dataset_id, added)
        allowance = allowances.store(self._transaction, dataset_id, self._access.principal.id, added)
        require_storage(self._services.settings, account, allowance, added)
        return account, allowance

    def _debit(self, drawn: PreparedRelease | None, cost_nano: int) -> SettledRelease:
        if drawn is None or drawn.reused:
            raise UnavailableError  # cannot be: releases are never deleted, so every one found is found again
        transaction, at = self._transaction, self._at
        dataset, principal = self._access.dataset, self._access.principal
        stored_bytes = drawn.opening.stored_bytes + ROW_BYTES
        facts_hash = self._access.account.facts_hash
        account = accounts.debit(transaction, dataset.id, facts_hash, cost_nano, stored_bytes)
        allowance = allowances.debit(transaction, dataset.id, principal.id, cost_nano, stored_bytes)
        self._balance = account, allowance
        require_storage(self._services.settings, account, allowance, stored_bytes)
        if allowance.window is not None:
            at = transaction.time()  # the time that decided which window the debit counts in
        settled = drawn.settle(cost_nano, account, allowance, at)
        entries.append_entry(
            *(transaction, self._seal, account, "debit", principal.name, cost_nano, at),
            release_id=drawn.release_id,
            answer_hash=settled.answer.sha256,
        )
        mechanism = drawn.plan.mechanism
        paid = Release(
            id=drawn.release_id,
            dataset_id=dataset.id,
            principal_id=principal.id,
            statistic=mechanism.statistic.identity,
            epsilon_nano=drawn.plan.epsilon_nano,
            gamma=str(mechanism.gamma),
            grid_refinement=mechanism.parameters.grid_refinement,
            response=settled.answer.content,
            created_at=at,
        )
        releases.insert_release(transaction, self._seal, paid, settled.answer.sha256, reuse.list_candidacies(mechanism))
        return settled
