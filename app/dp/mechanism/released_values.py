"""The numbers of a release: possibly a million components, but few distinct numbers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from app.dp.numbers.exact import Rational


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedValues(Sequence[Rational]):
    """A sequence of exact numbers that stores each distinct number once, as a whole number (its multiple of the grid).

    A histogram of a million bins is released on a grid and so has only some hundred distinct numbers. Conversions are
    done once for each distinct number.

    Attributes:
        multiples: the distinct whole numbers, ascending.
        places: for each component, the index of its number in `multiples`.
        number: converts a whole number to the exact number that it represents.
        exact: how many components were drawn with exact arithmetic only.
    """

    multiples: npt.NDArray[Any]
    places: npt.NDArray[np.intp]
    number: Callable[[int], Rational]
    exact: int = 1

    @classmethod
    def of(cls, multiples: npt.NDArray[Any], number: Callable[[int], Rational], exact: int) -> Self:
        """Return the release whose components are `number` of each of these whole numbers."""
        distinct, places = np.unique(multiples, return_inverse=True)
        return cls(distinct, places, number, exact)

    @classmethod
    def several(cls, numbers: Sequence[Rational]) -> Self:
        """Return a release of few components, stored one by one."""
        places = np.arange(len(numbers))
        return cls(places, places, numbers.__getitem__)

    def distinct(self) -> Iterator[Rational]:
        """Return an iterator over the distinct numbers, in ascending order of their multiples."""
        return map(self.number, self.multiples.tolist())

    def map(self, function: Callable[[Rational], Rational]) -> Self:
        """Return the release with `function` applied to each component."""
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
