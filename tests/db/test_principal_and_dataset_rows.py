import pytest

from app.db.database import Database, Session, WriteSession
from app.db.repositories import credentials, datasets, principals
from app.db.repositories.credentials import Identity, KeyDigest
from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import Principal
from app.errors import InvalidRequestError, NameTakenError
from app.ledger import accounts, allowances
from app.ledger.chain.keyring import Seal

AT, LATER = "2026-01-01T00:00:00.000000Z", "2026-01-02T00:00:00.000000Z"
JUST_BEFORE = "2026-01-01T23:59:59.999999Z"
SEAL = Seal("the secret of the ledger of these tests")


def make_principal(transaction: WriteSession, name: str, role: str = "analyst") -> Principal:
    return principals.insert_principal(transaction, name, role, name.encode().ljust(32), AT)


def by_key(session: Session, digest: bytes) -> Principal | None:
    return credentials.find_by_credential(session, KeyDigest(digest))


def make_dataset(transaction: WriteSession, name: str, owner: Principal, file_id: str | None = "file") -> Dataset:
    dataset = datasets.insert_dataset(
        transaction,
        name=name,
        description="Größe",
        owner_id=owner.id,
        columns='{"a": 1}',
        n=2**40,
        rows_per_unit=3,
        created_at=AT,
        file_id=file_id,
    )
    accounts.open_account(transaction, SEAL, dataset, 0, owner.name, AT)
    return dataset


def test_a_principal_is_found_by_name_and_by_key(database: Database) -> None:
    with database.write() as transaction:
        assert not principals.has_principals(transaction)
        ada = make_principal(transaction, "ada", "owner")
        assert principals.has_principals(transaction)
        transaction.commit()
    with database.read() as session:
        assert ada == principals.find_by_name(session, "ada") == by_key(session, b"ada".ljust(32))
        assert ada == Principal(ada.id, "ada", "owner", AT, None)
        assert principals.find_by_name(session, "bob") is None
        assert by_key(session, b"bob".ljust(32)) is None


def test_a_replaced_key_opens_nothing(database: Database) -> None:
    with database.write() as transaction:
        ada, bob = make_principal(transaction, "ada"), make_principal(transaction, "bob")
        principals.replace_key(transaction, ada.id, b"new".ljust(32))
        assert by_key(transaction, b"ada".ljust(32)) is None
        assert by_key(transaction, b"new".ljust(32)) == ada
        assert by_key(transaction, b"bob".ljust(32)) == bob


def test_a_disabled_principal_opens_nothing_and_keeps_its_name(database: Database) -> None:
    with database.write() as transaction:
        admins = [make_principal(transaction, name, "admin") for name in ("ada", "bob")]
        make_principal(transaction, "cy", "owner")
        assert len(principals.lock_lasting_admins(transaction)) == 2
        principals.disable_principal(transaction, admins[0].id, LATER)
        assert len(principals.lock_lasting_admins(transaction)) == 1
        assert by_key(transaction, b"ada".ljust(32)) is None
        assert principals.find_by_name(transaction, "ada") == Principal(admins[0].id, "ada", "admin", AT, LATER)
        with pytest.raises(NameTakenError):
            principals.insert_principal(transaction, "ada", "admin", b"else".ljust(32), AT)
        assert len(principals.lock_lasting_admins(transaction)) == 1  # the refusal did not spoil the transaction


def test_a_key_opens_nothing_from_its_expiry_on(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.write() as transaction:
        ada = make_principal(transaction, "ada", "admin")
        principals.replace_key(transaction, ada.id, b"key".ljust(32), LATER)
        for module in (credentials, principals):
            monkeypatch.setattr(module, "now", lambda: JUST_BEFORE)
        found = by_key(transaction, b"key".ljust(32))
        assert found is not None
        assert found.key_expires_at == LATER
        assert principals.lock_lasting_admins(transaction) == [ada.id]
        for module in (credentials, principals):
            monkeypatch.setattr(module, "now", lambda: LATER)
        assert by_key(transaction, b"key".ljust(32)) is None
        assert principals.lock_lasting_admins(transaction) == []


def test_whom_a_provider_names_is_one_principal_with_the_token_s_role(database: Database) -> None:
    identity = Identity("https://provider.example", "17", "owner")
    with database.write() as transaction:
        made = principals.insert_principal(transaction, "ada", "admin", None, AT, issuer=identity.issuer, subject="17")
        assert principals.lock_lasting_admins(transaction) == []  # a provider's admin is gone when the provider is
        for name in ("ada", "another"):
            with pytest.raises(NameTakenError):
                principals.insert_principal(transaction, name, "admin", None, AT, issuer=identity.issuer, subject="17")
        found = credentials.find_by_credential(transaction, identity)
        assert found is not None
        written = credentials.find_by_subject(transaction, identity)
        assert written is not None
        assert (found.id, found.role, written.role) == (made.id, "owner", "admin")
        for other in (Identity("https://other.example", "17", "owner"), Identity(identity.issuer, "18", "owner")):
            assert credentials.find_by_credential(transaction, other) is None
        principals.disable_principal(transaction, made.id, LATER)
        assert credentials.find_by_credential(transaction, identity) is None
        left = credentials.find_by_subject(transaction, identity)
        assert left is not None
        assert (left.id, left.disabled_at) == (made.id, LATER)


def test_pages_of_principals(database: Database) -> None:
    names = ["zoe", "ada", "b-2", "b_1", "b1"]
    with database.write() as transaction:
        for name in names:
            make_principal(transaction, name)
        transaction.commit()
    with database.read() as session:
        pages = [
            [principal.name for principal in principals.page_of_principals(session, after, 2)]
            for after in (None, "ada", "b1")
        ]
        assert pages == [["zoe", "ada"], ["b-2", "b_1"], []]
        with pytest.raises(InvalidRequestError) as refused:
            principals.page_of_principals(session, "nobody", 2)
    assert refused.value.problems[0][0] == "after"


def test_a_dataset_is_read_as_it_was_registered(database: Database) -> None:
    with database.write() as transaction:
        ada = make_principal(transaction, "ada")
        made = make_dataset(transaction, "penguins", ada)
        transaction.commit()
    assert made == Dataset(made.id, "penguins", "Größe", ada.id, '{"a": 1}', 2**40, 3, AT, "open", "file")
    with database.read() as session:
        assert datasets.find_dataset(session, "penguins") == made
        assert datasets.find_dataset(session, "seals") is None


def test_a_name_is_given_once_and_for_ever(database: Database) -> None:
    with database.write() as transaction:
        ada = make_principal(transaction, "ada")
        made = make_dataset(transaction, "penguins", ada)
        assert not made.closed
        assert datasets.close_dataset(transaction, made.id)
        with pytest.raises(NameTakenError):
            make_dataset(transaction, "penguins", ada)
        closed = datasets.find_dataset(transaction, "penguins")
    assert closed is not None
    assert (closed.closed, closed.state, closed.file_id, closed.n) == (True, "closed", None, made.n)


def test_pages_of_datasets_show_what_the_reader_may_see(database: Database) -> None:
    with database.write() as transaction:
        ada, bob, cy = (make_principal(transaction, name) for name in ("ada", "bob", "cy"))
        made = {
            name: make_dataset(transaction, name, owner)
            for name, owner in zip("zmab", (ada, bob, ada, bob), strict=True)
        }
        for name in "zma":
            allowances.grant_allowance(transaction, SEAL, made[name].id, cy, 0, AT)
        allowances.revoke_allowance(transaction, SEAL, made["m"].id, cy, AT)
        transaction.commit()
    with database.read() as session:

        def page(after: str | None, viewer: Principal | None, limit: int = 10) -> str:
            found = datasets.page_of_datasets(session, after, limit, None if viewer is None else viewer.id)
            return "".join(dataset.name for dataset in found)

        assert [page(None, viewer) for viewer in (None, ada, bob, cy)] == ["zmab", "za", "mb", "za"]
        assert [page(after, None, 2) for after in (None, "m", "b")] == ["zm", "ab", ""]
        assert [page(after, cy, 1) for after in (None, "z", "a")] == ["z", "a", ""]
        for hidden in ("m", "b", "nothing"):  # no telling them apart
            with pytest.raises(InvalidRequestError, match="after: must be the `next` of an earlier page of this list"):
                page(hidden, cy)
