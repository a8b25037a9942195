import pytest


@pytest.fixture(scope="module", autouse=True)
def without_certificates() -> None:
    """The steps of an image fetch packages."""
