"""A service and a provider where people sign on, for all tests of this directory."""

from collections.abc import Iterator

import pytest
from provider import provider
from service_world import Service, a_name, serving
from sign_on_provider import SignOnProvider, sign_on_settings


@pytest.fixture(scope="session")
def sign_on_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, SignOnProvider]]:
    folder = tmp_path_factory.mktemp("sign-on")
    with (
        provider(SignOnProvider) as issuer,
        serving(folder, f"sqlite:///{folder}/ledger.sqlite3", **sign_on_settings(issuer)) as service,
    ):
        yield service, issuer


@pytest.fixture
def issuer(sign_on_world: tuple[Service, SignOnProvider]) -> Iterator[SignOnProvider]:
    """The provider as it is at first; whoever comes has a name of this test's own."""
    one = sign_on_world[1]
    kept = vars(one).copy()
    one.person = a_name("person")
    for kept_since in (one.calls, one.refreshes, one.used):
        kept_since.clear()
    yield one
    vars(one).update(kept | {name: vars(one)[name] for name in ("key", "kid", "keys")})
