"""Writes JSON: whole documents, and arrays with up to a million entries.

Arrow formats the arrays, so there is no Python object for each entry.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
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
"""Absolute values between which Arrow writes a double as Python does: with the shortest digits, without an exponent."""

BATCH = 2**16
_FEW_BYTES = 2**12
"""Smaller members of an object are joined, because each piece is hashed and counted separately."""

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class NumberText:
    """A number of a document that neither an `int` nor a `float` keeps as it was written; `text` is its JSON."""

    text: str


def encode_json(value: Any) -> bytes:  # noqa: ANN401 - JSON is any value
    """Return a value as compact UTF-8 JSON. Besides the usual types, it may have `NumberText` in it.

    Raises:
        ValueError: the value contains NaN or Infinity, which would be a bug of the caller.
    """
    if type(value) is float and isfinite(value):
        return repr(value).encode()  # the same text as the encoder's, without its start-up time
    if type(value) is int:
        return b"%d" % value
    try:
        return _encoder.encode(value).encode()
    except TypeError:
        return _encode_in_parts(value).encode()


def _encode_in_parts(value: Any) -> str:  # noqa: ANN401 - JSON is any value
    """Return a value with a `NumberText` in it, which the encoder cannot write, as JSON."""
    if isinstance(value, NumberText):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{_encoder.encode(name)}:{_encode_in_parts(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_encode_in_parts, value)) + "]"
    return _encoder.encode(value)


def join_object(members: Mapping[str, bytes], more: Mapping[str, Any] | None = None) -> bytes:
    """Return the JSON object with these members, whose values are JSON already, and with `more`, which are not yet."""
    ending = b"," + encode_json(more)[1:] if more else b"}"
    return b"".join([*open_object(members), ending])  # members may be megabytes, so copy each only once


def open_object(members: Mapping[str, bytes | Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the pieces of a JSON object without its closing brace; each value is JSON already, whole or in pieces."""
    opening = b"{"
    for name, member in members.items():
        opening += _encode_name(name)
        if isinstance(member, bytes) and len(member) < _FEW_BYTES:
            opening += member
        else:
            yield opening
            yield from (member,) if isinstance(member, bytes) else member
            opening = b""
        opening += b","
    yield opening[:-1]


@cache
def _encode_name(name: str) -> bytes:
    """Return a member's name as JSON with a colon; cached, since there are only some dozens."""
    return encode_json(name) + b":"


def number_texts(doubles: Doubles) -> pa.StringArray:
    """Return each double as `app.dp.numbers.exact.shortest_text` writes it: whole numbers up to 2⁵³ have no point."""
    return _format_texts(doubles, shortest_text, "")


def double_texts(doubles: Doubles) -> pa.StringArray:
    """Return each double as text with a decimal point or an exponent."""
    return _format_texts(doubles, float, ".0")


def texts_array(spelled: Iterable[str]) -> pa.StringArray:
    """Return texts as an Arrow array, read a few at a time, because Python's strings are several times larger."""
    remaining = iter(spelled)
    batches = iter(lambda: pa.array(islice(remaining, BATCH), pa.string()), pa.array([], pa.string()))
    return pa.concat_arrays(batches)


def join_array(texts: pa.StringArray) -> bytes:
    """Return the JSON array with these entries, each JSON already."""
    return b"".join(array_pieces(texts, np.arange(len(texts))))


def array_pieces(texts: pa.StringArray, places: npt.NDArray[np.intp]) -> Iterator[bytes]:
    """Yield the pieces of the JSON array with the texts at these indices, each JSON already."""
    for start in range(0, len(places), BATCH):
        yield b"," if start else b"["
        yield join_texts(texts.take(pa.array(places[start : start + BATCH])))
    yield b"]"


def join_texts(texts: pa.StringArray) -> bytes:
    """Return the texts with commas between them."""
    (text,) = pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), ",")
    encoded: bytes = text.as_buffer().to_pybytes()
    return encoded


def dictionary_entries(text: bytes) -> pa.DictionaryArray:
    """Return the entries of a JSON array without its brackets; each distinct text is stored once."""
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
