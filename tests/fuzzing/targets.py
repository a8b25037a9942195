"""What the fuzzer calls: each parser of what strangers send, with what has to hold of any bytes.

A refusal is one of the parser's own errors, whose text repeats nothing of the input; anything else is a crash.
"""

import io
import json
from collections.abc import Callable
from fractions import Fraction

from gmpy2 import mpq

from app.api.json_codec import canonical_text, decode
from app.api.routers.datasets import _to_registration
from app.api.routers.releases import question_of
from app.api.schemas.base import validate
from app.api.schemas.datasets import DatasetRequest
from app.api.schemas.releases import ReleaseRequest
from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import NUMBER, decimal_text, parse_exact
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile
from app.engines.ingest import batches_of
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.problems import Problems
from app.engines.stored_columns import build_stored_schema
from app.errors import InvalidRequestError, MalformedJsonError
from app.services.planning import columns

COLUMNS = {
    column.name: column
    for column in (
        Column("r", Kind.REAL, (mpq(30), mpq(65))),
        Column("i", Kind.INTEGER, (mpq(-5), mpq(7000)), null_value=mpq(3)),
        Column("d", Kind.DECIMAL, (mpq("0.5"), mpq("12.75")), scale=4),
        Column("b", Kind.BOOLEAN),
        Column("c", Kind.CATEGORY, categories=("a", "", 'o"k', "🐧"), nullable=False),
    )
}
TEXTS = FileFormat(("", "NA", "NaN"), None)


def numbers(data: bytes) -> None:
    """A number is exactly what the text writes, and written again it is itself."""
    text = data.decode("utf-8", "replace")
    number = parse_exact(text)
    assert (number is not None) == (NUMBER.fullmatch(text) is not None)
    if number is not None:
        assert Fraction(int(number.numerator), int(number.denominator)) == Fraction(text)
        if len(decimal_text(number)) < 40:
            assert parse_exact(decimal_text(number)) == number


def bodies(data: bytes) -> None:
    """What is taken as JSON is JSON, and its canonical form has the same canonical form."""
    try:
        value = decode(data)
    except MalformedJsonError as error:
        assert len(str(error)) < 100
        return
    json.loads(data)
    text = canonical_text(value)
    assert canonical_text(decode(text.encode())) == text


def metadata(data: bytes) -> None:
    """A declaration is refused in our words, or can be stored, read and shown."""
    try:
        registration = _to_registration(validate(DatasetRequest, decode(data)))
        declared = columns.encode_columns(registration.columns)
        columns.check_columns(declared)
    except (MalformedJsonError, InvalidRequestError):
        return
    assert list(columns.decode_columns(declared)) == list(registration.columns)
    json.dumps(columns.columns_document(declared), allow_nan=False)


def questions(data: bytes) -> None:
    """A statistic with its filters is refused in our words, or has a finite mechanism's shape."""
    try:
        question = question_of(validate(ReleaseRequest, decode(data)))
        statistic = build(question.statistic, COLUMNS, 100, 1)
    except (MalformedJsonError, InvalidRequestError, InvalidStatistic):
        return
    assert statistic.components >= 1
    assert statistic.needs == build(question.statistic, COLUMNS, 100, 1).needs
    json.dumps(statistic.describe(), allow_nan=False)


def tables(data: bytes) -> None:
    """A CSV file is refused in our words, or its rows have the declared types."""
    if data[:4] in {b"PAR1", b"PARE"}:  # for Arrow's own reader, which has fuzzers of its own
        return
    declared, problems = list(COLUMNS.values()), Problems()
    try:
        for batch in batches_of(io.BytesIO(data), TEXTS)(declared, problems):
            assert batch.schema.equals(build_stored_schema(declared))
            batch.validate(full=True)
    except InvalidFile as error:
        assert error.problems


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (numbers, bodies, metadata, questions, tables)
}
