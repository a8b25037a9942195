"""The numbers of a release: many components, of which few differ."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from app.dp.numbers.exact import Rational


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedValues(Sequence[Rational]):
    """Exact numbers, each that occurs kept once, as the whole number that it is made of.

    A histogram of a million bins is released on a grid, so that some hundred numbers occur: whatever is made of each
    is made once.

    Attributes:
        multiples: the whole numbers that occur, ascending.
        places: for each component, the place of its number among these.
        number: what a whole number stands for.
        exact: how many components were drawn by exact numbers alone.
    """

    multiples: npt.NDArray[Any]
    places: npt.NDArray[np.intp]
    number: Callable[[int], Rational]
    exact: int = 1

    @classmethod
    def of(cls, multiples: npt.NDArray[Any], number: Callable[[int], Rational], exact: int) -> Self:
        """A release whose components are what these whole numbers stand for."""
        distinct, places = np.unique(multiples, return_inverse=True)
        return cls(distinct, places, number, exact)

    @classmethod
    def several(cls, numbers: Sequence[Rational]) -> Self:
        """A release of few components, each kept by itself."""
        places = np.arange(len(numbers))
        return cls(places, places, numbers.__getitem__)

    def distinct(self) -> Iterator[Rational]:
        """The numbers that occur, each made when it is its turn."""
        return map(self.number, self.multiples.tolist())

    def map(self, function: Callable[[Rational], Rational]) -> Self:
        """The same function of each component."""
        return type(self)(self.multiples, self.places, lambda multiple: function(self.number(multiple)), self.exact)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Rational: ...

    @overload
    def __getitem__(self, index: slice) -> "ReleasedValues": ...

    def __getitem__(self, index: int | slice) -> "Rational | ReleasedValues":
        if isinstance(index, slice):
            return ReleasedValues(self.multiples, self.places[index], self.number)
        return self.number(int(self.multiples[self.places[index]]))
