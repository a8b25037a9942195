"""`snapledger ledger …`: what an operator and an auditor do, and what is refused."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, run
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from ledger_world import SECRET, World, recorded
from sqlalchemy import delete, text, update

from app.db.tables import accounts, allowances, entries, idempotency, releases

NAME = "penguins"  # the dataset of the world


@dataclass
class Operator:
    """Who runs the commands, with the settings of a ledger of three releases."""

    world: World
    folder: Path
    settings: dict[str, str]

    def run(self, *arguments: str, **settings: str) -> Done:
        return run(*arguments, **self.settings | settings)

    def ledger(self, *arguments: str, **settings: str) -> Done:
        return self.run("ledger", *arguments, **settings)

    def verify(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        done = self.ledger("verify", "--format", "json", *arguments)
        assert done.out, done.err
        return done.status, json.loads(done.out)

    def change(self, *statements: Any) -> None:
        """Write to the database behind the service's back."""
        with self.world.database.write() as transaction:
            if transaction.dialect == "sqlite":
                transaction.connection.execute(text("PRAGMA defer_foreign_keys = ON"))
            for statement in statements:
                assert transaction.connection.execute(statement).rowcount >= 1, statement
            transaction.commit()


@pytest.fixture
def operator(world: World, tmp_path: Path, database_url: str) -> Operator:
    with world.database.write() as transaction:
        recorded(transaction, "admin", "admin", b"A" * 32)
        transaction.commit()
    for number in range(3):
        world.release(10**8, f"key {number}")
    settings = {"DATABASE_URL": database_url, "DATA_DIR": str(tmp_path / "data"), "SECRET": SECRET}
    return Operator(world, tmp_path, settings)


def refused(done: Done, *told: str) -> None:
    assert (done.status, done.out) == (1, ""), done
    assert len(done.err.splitlines()) == 1, done.err
    for words in told:
        assert words in done.err


def test_verify(operator: Operator) -> None:
    head = operator.world.entries()[-1].hash
    assert head is not None
    whole = {"dataset": NAME, "valid": True, "entries": 5, "first_checked": 1, "head": head.hex(), "problems": []}
    status, found = operator.verify()
    acts = found.pop("audit")
    assert (status, found) == (0, {"valid": True, "datasets": [whole], "checkpoint": None})
    assert (acts["valid"], acts["entries"], acts["problems"]) == (True, 3, [])
    told = operator.ledger("verify", "--dataset", NAME)
    assert (told.status, f"{NAME}: valid, 5 entries, head {head.hex()}" in told.out) == (0, True)
    refused(operator.ledger("verify", "--dataset", "nothing"), "no dataset has this name")
    refused(operator.ledger("verify", SECRET="", SECRET_FILE="nowhere"), "secret")  # noqa: S106
    assert operator.ledger("verify", SECRET="s" * 32).status == 1

    operator.change(update(entries).where(entries.c.seq == 4).values(epsilon_nano=1))
    status, found = operator.verify("--dataset", NAME)
    assert (status, found["valid"], found["datasets"][0]["problems"][0]["seq"]) == (1, False, 4)
    told = operator.ledger("verify")
    assert (told.status, "entry 4 was changed after it was sealed" in told.out) == (1, True)


def test_verify_changes_nothing(operator: Operator, database_url: str) -> None:
    missing = operator.folder / "missing"
    refused(operator.ledger("verify", DATABASE_URL=f"sqlite:///{missing}/ledger.sqlite3"), "no ledger at")
    assert not missing.exists()
    refused(
        operator.ledger("write-off", NAME, "1", "--reason", "x", DATABASE_URL=f"sqlite:///{missing}/l"), "no ledger"
    )
    assert not missing.exists()
    empty = operator.folder / "empty.sqlite3"
    empty.touch()
    refused(operator.ledger("verify", DATABASE_URL=f"sqlite:///{empty}"), "migrate")
    assert empty.read_bytes() == b""
    if database_url.startswith("sqlite"):
        path = Path(database_url.removeprefix("sqlite:///"))
        before = path.read_bytes()
        assert operator.verify()[0] == 0
        assert path.read_bytes() == before


def test_a_checkpoint_and_a_ledger_that_was_turned_back(operator: Operator) -> None:
    """All of it consistently, which no chain shows."""
    file, early = operator.folder / "checkpoint.json", operator.folder / "early.json"
    assert operator.ledger("checkpoint", str(early)).status == 0
    before, account_before = operator.world.entries()[-1], operator.world.account()
    last = operator.world.release(10**8, "forgotten")
    assert operator.ledger("checkpoint", str(file)).status == 0
    kept = file.read_bytes()
    status, found = operator.verify("--checkpoint", str(file))
    assert (status, found["checkpoint"]["behind"]) == (0, [])

    operator.change(
        delete(entries).where(entries.c.release_id == last),
        delete(idempotency).where(idempotency.c.release_id == last),
        delete(releases).where(releases.c.id == last),
        update(accounts).values(
            last_seq=before.seq, spent_nano=before.spent_nano, head=before.hash, seal=account_before.seal
        ),
        update(allowances).values(spent_nano=before.spent_nano),
    )
    assert operator.verify()[0] == 0
    assert operator.verify("--checkpoint", str(early))[0] == 0
    status, found = operator.verify("--checkpoint", str(file))
    assert (status, found["valid"], found["checkpoint"]["behind"]) == (1, False, [NAME])
    assert f"BEHIND it: {NAME}" in operator.ledger("verify", "--checkpoint", str(file)).out
    refused(operator.ledger("checkpoint", str(file)), "behind", NAME)
    assert file.read_bytes() == kept
    refused(operator.run("serve", "--port", "0", "--require-checkpoint", str(file)), "behind", NAME)
    operator.world.release(10**8, "in its place")  # as many entries and as much spent, but others
    assert operator.verify("--checkpoint", str(file))[1]["checkpoint"]["behind"] == [NAME]


def test_an_account_behind_its_entries_is_behind_the_checkpoint(operator: Operator) -> None:
    file = operator.folder / "checkpoint.json"
    assert operator.ledger("checkpoint", str(file)).status == 0
    operator.change(update(accounts).values(spent_nano=0))
    refused(operator.run("serve", "--port", "0", "--require-checkpoint", str(file)), "behind", NAME)


def test_what_a_service_does_not_start_on(operator: Operator) -> None:
    file = operator.folder / "checkpoint.json"
    assert operator.ledger("checkpoint", str(file)).status == 0

    def serve(path: Path, **settings: str) -> Done:
        return operator.run("serve", "--port", "0", "--require-checkpoint", str(path), **settings)

    refused(serve(operator.folder / "nowhere"), "not a checkpoint")
    changed = operator.folder / "changed.json"
    for content, told in [
        (file.read_bytes().replace(b'"seq":5', b'"seq":4'), "signature"),
        (file.read_bytes() + b" ", "cannot be read"),
        (b"[]", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"", "cannot be read"),
    ]:
        changed.write_bytes(content)
        refused(serve(changed), told)
        refused(operator.ledger("checkpoint", str(changed)), told)  # what is no checkpoint is not replaced
    refused(serve(file, SECRET=secrets.token_hex(32)), "another key")
    refused(serve(file, DATABASE_URL=f"sqlite:///{operator.folder}/other.sqlite3"), "behind", NAME)
    refused(operator.ledger("checkpoint", str(operator.folder / "no" / "where")), "No such file")
    assert sorted(operator.folder.glob(".*")) == []


def test_an_auditor_needs_no_secret_for_a_checkpoint(operator: Operator) -> None:
    """The file and the published key are enough, for our command and for any other program."""
    file = operator.folder / "checkpoint.json"
    assert operator.ledger("checkpoint", str(file)).status == 0
    key = operator.ledger("public-key").out.strip()
    done = run("ledger", "verify-checkpoint", str(file), "--public-key", key)
    head = operator.world.entries()[-1].hash
    assert head is not None
    assert (done.status, f"{NAME}: 5 entries, ε 0.3, head {head.hex()}" in done.out) == (0, True)
    other = operator.ledger("public-key", SECRET=secrets.token_hex(32)).out.strip()
    refused(run("ledger", "verify-checkpoint", str(file), "--public-key", other), "another key")
    refused(run("ledger", "verify-checkpoint", str(file), "--public-key", "12"), "64 hexadecimal")
    refused(operator.ledger("verify", "--checkpoint", str(file), "--public-key", other), "another key")
    assert operator.ledger("verify", "--checkpoint", str(file), "--public-key", key).status == 0

    members = json.loads(file.read_text())
    signature = bytes.fromhex(members.pop("signature"))
    signed = json.dumps(members, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, signed)


def test_checkpoints_outlive_a_rotated_secret(operator: Operator) -> None:
    file, secret_file = operator.folder / "checkpoint.json", operator.folder / "secrets"
    assert operator.ledger("checkpoint", str(file)).status == 0
    secret_file.write_text(f"{secrets.token_hex(32)}\n{SECRET}\n")
    rotated = {"SECRET": "", "SECRET_FILE": str(secret_file)}
    assert operator.ledger("verify", "--checkpoint", str(file), **rotated).status == 0
    assert operator.ledger("write-off", NAME, "0.1", "--reason", "x", **rotated).status == 0
    assert operator.ledger("verify", "--checkpoint", str(file), **rotated).status == 0
    assert operator.ledger("checkpoint", str(file), **rotated).status == 0
    keys = operator.ledger("public-key", **rotated).out.split()
    assert json.loads(file.read_text())["public_key"] == keys[0]
    assert len(set(keys)) == 2
    refused(operator.ledger("checkpoint", str(file)), "another secret")  # the earlier one alone


def test_write_off(operator: Operator) -> None:
    world = operator.world
    done = operator.ledger("write-off", NAME, "0.5", "--reason", "A restore on 1 May: größer")
    assert (done.status, "0.8 spent, 0.2 left" in done.out) == (0, True), done
    entry = world.entries()[-1]
    assert (entry.kind, entry.principal, entry.epsilon_nano, entry.spent_nano) == (
        "write_off",
        "admin",
        5 * 10**8,
        8 * 10**8,
    )
    assert (entry.reason, entry.release_id) == ("A restore on 1 May: größer", None)
    assert (world.account().spent_nano, world.allowance().spent_nano) == (8 * 10**8, 3 * 10**8)  # type: ignore[union-attr]
    assert operator.verify()[0] == 0
    named = operator.ledger("write-off", NAME, "1e-9", "--reason", "x", "--principal", "owner")
    assert (named.status, world.entries()[-1].principal) == (0, "owner")


def test_a_write_off_that_is_refused_changes_nothing(operator: Operator) -> None:
    before = operator.world.entries()
    for arguments, told in [
        (("nothing", "1", "--reason", "x"), "no dataset has this name"),
        ((NAME, "0.1", "--reason", "x", "--principal", "nobody"), "no such principal"),
        ((NAME, "100", "--reason", "x"), "has less ε left"),
        ((NAME, "0", "--reason", "x"), "epsilon"),
        ((NAME, "1e-10", "--reason", "x"), "epsilon"),
        ((NAME, "much", "--reason", "x"), "epsilon"),
        ((NAME, "0.1", "--reason", ""), "reason"),
        ((NAME, "0.1", "--reason", "x" * 1001), "reason"),
        ((NAME, "0.1", "--reason", "\udcff"), "reason"),
    ]:
        refused(operator.ledger("write-off", *arguments), told)
    refused(operator.ledger("write-off", NAME, "0.1", "--reason", "x", SECRET="s" * 32), "another secret")
    assert operator.ledger("write-off", NAME, "0.1").status == 2
    operator.world.close()
    refused(operator.ledger("write-off", NAME, "0.1", "--reason", "x"))
    assert operator.world.entries()[:-1] == before
