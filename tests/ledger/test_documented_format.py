"""docs/ledger.md: its example, computed again from its text alone, and as the service does."""

import hashlib
import hmac
import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.db.repositories.datasets import Dataset
from app.ledger.account import Account
from app.ledger.chain import audit_log, checkpoints
from app.ledger.chain.facts import hash_facts, match
from app.ledger.chain.hash_chain import canonical_bytes
from app.ledger.chain.keyring import Keyring

TEXT = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text("utf-8")
EXAMPLE = TEXT.partition("### An example")[2]
SECRET = EXAMPLE.partition("Secret: `")[2].partition("`")[0]
ENTRIES, RECORDS, CHECKPOINT, SEALED = re.findall(r"```\n(.*?)```", EXAMPLE, re.DOTALL)


def derived(info: str, length: int) -> bytes:
    """HKDF of RFC 5869: extract with a salt of zeros, then the first block of expand."""
    extracted = hmac.digest(bytes(32), SECRET.encode(), "sha256")
    return hmac.digest(extracted, info.encode() + b"\x01", "sha256")[:length]


def test_another_program_computes_the_chain() -> None:
    secret_id, key = derived("snapledger/v1/secret-id", 8).hex(), derived("snapledger/v1/chain", 32)
    assert secret_id in EXAMPLE
    assert key.hex() in EXAMPLE
    lines = ENTRIES.splitlines()
    previous, spent, number = None, 0, 0
    for number, (line, digest) in enumerate(zip(lines[::2], lines[1::2], strict=True), 1):
        assert hmac.digest(key, line.encode(), "sha256").hex() == digest
        entry = json.loads(line)
        assert json.dumps(entry, ensure_ascii=False, separators=(",", ":")) == line
        spent += entry[5] if entry[3] in {"debit", "write_off"} else 0
        assert (entry[0], entry[2], entry[6], entry[12], entry[13]) == (
            *("snapledger-entry-v1", number, spent),
            *(secret_id, previous),
        )
        previous = digest
    assert number == 4
    answer = re.findall(r"`(\{.*?\})`", EXAMPLE)[0]
    assert hashlib.sha256(answer.encode()).hexdigest() == json.loads(lines[4])[8]


def test_the_service_computes_the_same() -> None:
    keyring = Keyring([SECRET])
    lines = ENTRIES.splitlines()
    for line, digest in zip(lines[::2], lines[1::2], strict=True):
        entry = json.loads(line)[1:]
        for hashed in (7, 12):
            entry[hashed] = entry[hashed] and bytes.fromhex(entry[hashed])
        assert canonical_bytes(*entry) == line.encode()
        assert keyring.seal.hash(line.encode()).hex() == digest
    checkpoint = checkpoints.decode_checkpoint(CHECKPOINT.encode())
    checkpoint.require_signature(keyring.public_keys)
    assert (checkpoint.heads[0].seq, checkpoint.heads[0].hash.hex()) == (4, lines[-1])
    assert derived("snapledger/v1/checkpoint", 32) not in CHECKPOINT.encode()


def test_another_program_computes_the_seals() -> None:
    secret_id, key = derived("snapledger/v1/secret-id", 8).hex(), derived("snapledger/v1/chain", 32)
    facts, facts_hash, entry, hash_, account, seal = SEALED.splitlines()
    for line in (facts, entry, account):
        assert json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")) == line
    assert hashlib.sha256(facts.encode()).hexdigest() == facts_hash
    assert hmac.digest(key, entry.encode(), "sha256").hex() == hash_
    assert secret_id + hmac.digest(key, account.encode(), "sha256").hex() == seal
    assert (json.loads(entry)[0], json.loads(entry)[14]) == ("snapledger-entry-v2", facts_hash)
    assert json.loads(account)[5:] == [hash_, facts_hash]


def test_the_service_computes_the_same_seals() -> None:
    keyring = Keyring([SECRET])
    facts, facts_hash, entry, hash_, account, seal = SEALED.splitlines()
    name, description, owner_id, columns, n, rows_per_unit, created_at, state, file_id, succeeds, source = json.loads(
        facts
    )[1:]
    dataset = Dataset(
        *(1, name, description, owner_id, columns, n, rows_per_unit, created_at, state, file_id, succeeds, source)
    )
    assert hash_facts(dataset).hex() == facts_hash
    sealed = json.loads(entry)[1:]
    assert canonical_bytes(*sealed[:-1], bytes.fromhex(facts_hash)) == entry.encode()
    _, limit_nano, spent_nano, last_seq, *_ = json.loads(account)[1:]
    head = bytes.fromhex(hash_)
    found = Account(1, name, limit_nano, spent_nano, last_seq, head, bytes.fromhex(facts_hash), bytes.fromhex(seal))
    assert match(keyring, dataset, found)
    assert not match(keyring, dataset, found._replace(spent_nano=1))
    assert not match(keyring, dataset._replace(n=345), found)


def test_another_program_computes_the_chain_of_acts() -> None:
    key, previous, number = derived("snapledger/v1/chain", 32), None, 0
    lines = RECORDS.splitlines()
    for number, (line, digest) in enumerate(zip(lines[::2], lines[1::2], strict=True), 1):
        record = json.loads(line)
        assert json.dumps(record, ensure_ascii=False, separators=(",", ":")) == line
        assert hmac.digest(key, line.encode(), "sha256").hex() == digest
        assert (record[0], record[1], record[9], record[10]) == (
            *("snapledger-audit-v1", number),
            *(derived("snapledger/v1/secret-id", 8).hex(), previous),
        )
        sealed = [*record[1:10], previous and bytes.fromhex(previous)]
        assert audit_log.canonical_bytes(*sealed) == line.encode()
        previous = digest
    assert json.loads(CHECKPOINT)["audit"] == {"seq": number, "hash": previous}
    told = json.loads(json.loads(lines[0])[6])
    assert told["key_seal"] == hmac.digest(key, b"snapledger-key-v1\n" + bytes(32), "sha256")[:16].hex()
    assert told["key_seal"] == audit_log.key_seal(Keyring([SECRET]).seal, bytes(32))


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.tuples(
        *(TEXTS, st.integers(1, 2**53), TEXTS, TEXTS, st.integers(0, 10**15), st.integers(0, 10**15)),
        *(st.none() | TEXTS, st.none() | st.binary(), st.none() | st.integers(1), st.none() | TEXTS, TEXTS, TEXTS),
        st.none() | st.binary(),
        st.none() | st.binary(min_size=1),
    )
)
def test_canonical_bytes_are_canonical_json(entry: tuple[object, ...]) -> None:
    *plain, facts_hash = [value.hex() if isinstance(value, bytes) else value for value in entry]
    version, more = ("snapledger-entry-v1", []) if facts_hash is None else ("snapledger-entry-v2", [facts_hash])
    expected = json.dumps([version, *plain, *more], ensure_ascii=False, separators=(",", ":"))
    assert canonical_bytes(*entry) == expected.encode()  # type: ignore[arg-type]
