"""JSON as text: whole documents, and arrays with an entry for each of a million bins.

The arrays are made by Arrow, without a Python object for each entry.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from app.dp.numbers.exact import shortest_text

Doubles = npt.NDArray[np.float64]

SMALLEST, LARGEST = 1e-4, 1e10
"""Between these sizes Arrow writes a double as Python does, by its shortest digits and without an exponent."""


BATCH = 2**16

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_json(value: Any) -> bytes:  # noqa: ANN401 - JSON is any value
    """Compact UTF-8 JSON. NaN and Infinity would be a defect of ours, and raise."""
    if type(value) is float and isfinite(value):
        return repr(value).encode()  # as the encoder does, which takes its time to begin
    return _encoder.encode(value).encode()


def join_object(members: Mapping[str, bytes]) -> bytes:
    """The object with these members, each of them JSON already."""
    return b"".join([*open_object(members), b"}"])  # members may be megabytes: each is copied once


def open_object(members: Mapping[str, bytes | Iterable[bytes]]) -> Iterator[bytes]:
    """The pieces of an object with these members, each JSON already or in pieces itself, without the last brace."""
    separator = b"{"
    for name, member in members.items():
        yield separator
        yield _encode_name(name)
        if isinstance(member, bytes):
            yield member
        else:
            yield from member
        separator = b","


@cache
def _encode_name(name: str) -> bytes:
    """A member's name before its value; there are some dozens."""
    return encode_json(name) + b":"


def number_texts(doubles: Doubles) -> pa.StringArray:
    """Each double as `app.dp.numbers.exact.shortest_text` has it: whole numbers up to 2⁵³ without a decimal point."""
    return _format_texts(doubles, shortest_text, "")


def double_texts(doubles: Doubles) -> pa.StringArray:
    """Each double with a decimal point or an exponent."""
    return _format_texts(doubles, float, ".0")


def texts_array(spelled: Iterable[str]) -> pa.StringArray:
    """Texts that are JSON already, taken a few at a time: Python's own strings are several times larger."""
    remaining = iter(spelled)
    batches = iter(lambda: pa.array(islice(remaining, BATCH), pa.string()), pa.array([], pa.string()))
    return pa.concat_arrays(batches)


def join_array(texts: pa.StringArray) -> bytes:
    """The array of these entries, each of them JSON already."""
    return b"".join(array_pieces(texts, np.arange(len(texts))))


def array_pieces(texts: pa.StringArray, places: npt.NDArray[np.intp]) -> Iterator[bytes]:
    """The array of the texts at these places, each of them JSON already; a few entries at a time."""
    for start in range(0, len(places), BATCH):
        yield b"," if start else b"["
        yield joined(texts.take(pa.array(places[start : start + BATCH])))
    yield b"]"


def joined(texts: pa.StringArray) -> bytes:
    """The texts with commas between them."""
    (text,) = pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), ",")
    encoded: bytes = text.as_buffer().to_pybytes()
    return encoded


def dictionary_entries(text: bytes) -> pa.DictionaryArray:
    """The entries of an array of numbers, given without its brackets, each different text kept once."""
    return pc.split_pattern(pa.array([text.decode()]), ",").values.dictionary_encode()


def _format_texts(doubles: Doubles, spell: Callable[[float], float], point: str) -> pa.StringArray:
    sizes = np.abs(doubles)
    alike = (sizes == 0) | (sizes >= SMALLEST) & (sizes < LARGEST)
    texts = pc.cast(pa.array(doubles), pa.string())
    if point:
        whole = pa.array(doubles == np.floor(doubles))
        texts = pc.if_else(whole, pc.binary_join_element_wise(texts, point, ""), texts)
    if not alike.all():
        spelled = [encode_json(spell(double)).decode() for double in doubles[~alike].tolist()]
        texts = pc.replace_with_mask(texts, pa.array(~alike), pa.array(spelled))
    return texts
