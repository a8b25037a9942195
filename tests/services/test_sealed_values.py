"""What browsers keep for the service: nobody else can read, change or prolong it, or use it for something else."""

import time
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Callable

import pytest
from cryptography.fernet import Fernet

from app.ledger.chain.keyring import Keyring
from app.services.identity.sealed_values import ValueSealer

OLD, NEW = "an old secret of at least 32 characters", "a new secret of at least 32 characters"
MEMBERS = {"refresh": "eyJ.secret", "expires_at": 1.5, "hint": None}


def sealer(*secrets: str) -> ValueSealer:
    return ValueSealer(Keyring(secrets).cookie_keys)


def test_a_value_is_what_it_was_and_cannot_be_read() -> None:
    sealed = sealer(NEW).seal("session", MEMBERS)
    assert sealer(NEW).unseal("session", sealed, 60) == MEMBERS
    assert sealed != sealer(NEW).seal("session", MEMBERS)
    assert "secret" not in sealed


def test_an_earlier_secret_still_opens_and_an_unknown_one_does_not() -> None:
    sealed = sealer(OLD).seal("session", MEMBERS)
    assert sealer(NEW, OLD).unseal("session", sealed, 60) == MEMBERS
    assert sealer(NEW).unseal("session", sealed, 60) is None


def test_a_value_is_for_one_purpose_and_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [time.time()]
    monkeypatch.setattr("cryptography.fernet.time.time", lambda: clock[0])
    sealed = sealer(NEW).seal("attempt", MEMBERS)
    assert sealer(NEW).unseal("session", sealed, 60) is None
    clock[0] += 61
    assert sealer(NEW).unseal("attempt", sealed, 60) is None
    assert sealer(NEW).unseal("attempt", sealed, 62) == MEMBERS


@pytest.mark.parametrize("change", [lambda text: text[:-2], lambda text: text.swapcase(), lambda _: "", lambda _: "ä"])
def test_a_changed_value_is_none(change: Callable[[str], str]) -> None:
    assert sealer(NEW).unseal("session", change(sealer(NEW).seal("session", MEMBERS)), 60) is None


def test_what_is_sealed_is_bounded() -> None:
    """Nobody but the service can seal; should a key leak, one cookie still fills no memory."""
    key = Keyring([NEW]).cookie_keys[0]
    bomb = Fernet(urlsafe_b64encode(key)).encrypt(zlib.compress(b"[" * 2**20)).decode()
    assert sealer(NEW).unseal("session", bomb, 60) is None
