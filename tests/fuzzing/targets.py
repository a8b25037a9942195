"""What the fuzzer calls: each parser of what strangers send, with what has to hold of any bytes.

A refusal is one of the parser's own errors, whose text repeats nothing of the input; anything else is a crash.
"""

import io
import json
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from gmpy2 import mpq

from app.api.json_codec import canonical_text, decode
from app.api.routers.datasets import to_registration
from app.api.schemas.base import validate
from app.api.schemas.datasets import DatasetRequest
from app.api.schemas.releases import ReleaseRequest
from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import NUMBER, decimal_text, parse_exact
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import first_unit, last_unit
from app.engines.errors import InvalidFile
from app.engines.ingest import batches_of
from app.engines.ingest.cells import UnreadableError, read_moment, read_real, read_whole
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.file_kinds import describe_foreign_kind, is_parquet
from app.engines.ingest.number_spelling import NumberSpelling
from app.engines.ingest.parquet.footer import read_row_groups
from app.engines.ingest.parquet.page_sizes import examine_pages
from app.engines.ingest.parquet.thrift import Compact, MalformedError
from app.engines.ingest.plain_streams import (
    ENCODINGS,
    FREE_PLAIN_BYTES,
    MAX_RATIO,
    UnreadableStreamError,
    open_plain,
)
from app.engines.ingest.problems import Problems
from app.engines.ingest.sheet_rows import is_workbook
from app.engines.stored_columns import build_stored_schema
from app.errors import InvalidRequestError, MalformedJsonError
from app.services.planning import columns

sys.path.append(str(Path(__file__).parents[1] / "support"))

from workbooks import workbook_of_xml

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
MOMENTS = [Column("at", kind, time_zone="Europe/Paris") for kind in (Kind.DATE, Kind.HOURS, Kind.SECONDS)]
SPELLINGS = [
    NumberSpelling(),
    NumberSpelling(",", "."),
    NumberSpelling(".", ",", ("$", "%")),
    NumberSpelling(",", " ", ("€", "EUR")),
    NumberSpelling(thousands="'"),
]
FORMS = (
    FileFormat(("", "NA", "NaN"), None),
    FileFormat(("-",), None, decimal=",", thousands=".", strip=True, header_row=2, date_order="day-month-year"),
    FileFormat((), ";", encoding="windows-1252", thousands=" ", column_names=tuple(COLUMNS)),
)
_PLACE = re.compile(rb"r\s*=\s*[\"']?([^\"' >]*)")
_MOST_IN_PLACE = 5  # such as AB999


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
        registration = to_registration(validate(DatasetRequest, decode(data)))
        declared = columns.encode_columns(registration.columns)
        columns.check_columns(declared)
    except (MalformedJsonError, InvalidRequestError):
        return
    assert list(columns.decode_columns(declared)) == list(registration.columns)
    json.dumps(columns.columns_document(declared), allow_nan=False)


def questions(data: bytes) -> None:
    """A statistic with its filters is refused in our words, or has a finite mechanism's shape."""
    try:
        question = validate(ReleaseRequest, decode(data)).question
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
    for form in FORMS:
        declared, problems = list(COLUMNS.values()), Problems()
        try:
            for batch in batches_of(io.BytesIO(data), form)(declared, problems):
                assert batch.schema.equals(build_stored_schema(declared))
                batch.validate(full=True)
        except InvalidFile as error:
            assert error.problems


def sheets(data: bytes) -> None:
    """A workbook with these bytes as its sheet's XML is refused in our words, or its rows have the declared types.

    Cells far from the others are left out: only the process of an upload bounds the memory for the cells between them.
    """
    if all(len(place) <= _MOST_IN_PLACE for place in _PLACE.findall(data)):
        tables(workbook_of_xml({"S": [data.decode("utf-8", "replace")]}))


def spellings(data: bytes) -> None:
    """A text that is a number in some spelling is read exactly, and any other is refused in our words."""
    text = data.decode("utf-8", "replace")
    for spelling in SPELLINGS:
        plain = spelling.to_plain(text.strip())
        for scale in (0, 4):
            try:
                units = read_whole(plain, scale)
            except UnreadableError as error:
                assert_is_sentence(str(error))
                continue
            if len(plain.lower().partition("e")[2]) < 4:
                assert Fraction(units, 10**scale) == Fraction(plain)
        try:
            assert isinstance(read_real(plain), float)
        except UnreadableError as error:
            assert_is_sentence(str(error))
    for column in MOMENTS:
        try:
            assert first_unit(column.kind) - 1 <= read_moment(text, column) <= last_unit(column.kind) + 1
        except UnreadableError as error:
            assert_is_sentence(str(error))


def streams(data: bytes) -> None:
    """A compressed or encoded file is refused in our words, or is as long as is allowed and the same when rewound."""
    for encoding in (None, *ENCODINGS):
        try:
            plain = open_plain(io.BytesIO(data), encoding)
            content = plain.read()
            plain.seek(0)
            assert plain.read() == content
            assert len(content) <= FREE_PLAIN_BYTES + MAX_RATIO * len(data)
        except UnreadableStreamError as error:
            assert_is_sentence(str(error))


def kinds(data: bytes) -> None:
    """Whatever the bytes are, they are of one kind, and the file is rewound."""
    file = io.BytesIO(data)
    assert_is_sentence(describe_foreign_kind(file) or "")
    assert not (is_workbook(file) and is_parquet(file))
    assert file.tell() == 0


def workbooks(data: bytes) -> None:
    """A workbook is refused in our words, or its rows are texts."""
    if is_workbook(io.BytesIO(data)):
        tables(data)


def pages(data: bytes) -> None:
    """The checks of a Parquet file refuse it in our words, or know what each of its row groups claims.

    The last two bytes say how many bytes of the others are the footer.
    """
    content, size = data[:-2], int.from_bytes(data[-2:], "little")
    file = io.BytesIO(b"PAR1" + content + min(size, len(content)).to_bytes(4, "little") + b"PAR1")
    try:
        groups = read_row_groups(file)
        found = examine_pages(file, groups, {chunk.name for group in groups for chunk in group})
    except MalformedError as error:
        assert_is_sentence(str(error))
        return
    assert len(found.bytes_by_group) == len(groups)
    assert found.most_bytes >= 0


def structs(data: bytes) -> None:
    """Bytes are a struct whichever fields are wanted, and it ends at the same place; wanted fields are only refused."""
    skipping = Compact(data)
    try:
        skipping.struct({})
        ended = True
    except (MalformedError, IndexError):
        ended = False
    reading = Compact(data, most_elements=1_000)
    try:
        reading.struct({1: None, 2: {1: None, 2: {1: None}}, 3: None, 4: {3: {5: None}}})
    except (MalformedError, IndexError):
        return
    assert ended
    assert reading.place == skipping.place


def assert_is_sentence(text: str) -> None:
    """A reason is short, and repeats nothing of the input that is not printable."""
    assert len(text) < 200
    assert text.isprintable()


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        numbers,
        bodies,
        metadata,
        questions,
        tables,
        spellings,
        streams,
        kinds,
        workbooks,
        sheets,
        pages,
        structs,
    )
}
