"""The fuzzer's targets hold of the seeds, of what once was a crash, and of random inputs, in every run of the tests."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).parent))

from targets import TARGETS

SEEDS = sorted((Path(__file__).parent / "seeds").glob("*/*"))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{seed.parent.name}-{seed.name}")
def test_a_target_holds_of_its_seed(seed: Path) -> None:
    TARGETS[seed.parent.name](seed.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_seeds_that_are_taken(target: str) -> None:
    assert [seed for seed in SEEDS if seed.parent.name == target]


@given(
    st.binary() | st.text().map(str.encode) | st.from_regex(r"[-+0-9.eE]{1,50}").map(str.encode),
    st.sampled_from(list(TARGETS)),
)
def test_targets_hold_of_anything(data: bytes, target: str) -> None:
    TARGETS[target](data)
