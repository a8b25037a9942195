"""What `make test-slow` adds to the tests of `make test`."""

import os

import pytest

LONGER = int(os.environ.get("LONGER", "1"))
"""How long the slow tests go on: `make test-slow LONGER=4` draws four times as many cases."""

ON_POSTGRES_SLOWLY = pytest.mark.parametrize(
    "database_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
"""For tests with a service of their own, which takes seconds on both databases."""

SERVICE_ON_POSTGRES_SLOWLY = pytest.mark.parametrize(
    "service", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
"""For tests of the shared service that make many calls."""
