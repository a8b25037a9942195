"""The numbers of a release: many components, of which few differ."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, overload

import numpy as np
import numpy.typing as npt

from app.dp.numbers import Rational


@dataclass(frozen=True, slots=True, eq=False)
class Released(Sequence[Rational]):
    """Exact numbers, each that occurs kept once.

    A histogram of a million bins is released on a grid, so that some hundred numbers occur: whatever is made of each
    is made once.

    Attributes:
        distinct: the numbers that occur.
        places: for each component, the place of its number among these.
    """

    distinct: tuple[Rational, ...]
    places: npt.NDArray[np.intp]

    @classmethod
    def of(cls, keys: npt.NDArray[np.generic], number: Callable[[int], Rational]) -> Self:
        """For each whole number in `keys` the number that it stands for."""
        distinct, places = np.unique(keys, return_inverse=True)
        return cls(tuple(number(key) for key in distinct.tolist()), places)

    @classmethod
    def one(cls, number: Rational) -> Self:
        """A release of one component."""
        return cls((number,), np.zeros(1, np.intp))

    def map(self, function: Callable[[Rational], Rational]) -> Self:
        """The same function of each component."""
        return type(self)(tuple(function(number) for number in self.distinct), self.places)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Rational: ...

    @overload
    def __getitem__(self, index: slice) -> "Released": ...

    def __getitem__(self, index: int | slice) -> "Rational | Released":
        if isinstance(index, slice):
            return Released(self.distinct, self.places[index])
        return self.distinct[self.places[index]]
