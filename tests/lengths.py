"""How long the slow tests go on: `make test-slow LONGER=4` draws four times as many cases."""

import os

LONGER = int(os.environ.get("LONGER", "1"))
