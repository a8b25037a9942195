"""Parquet files, written by hand, that claim as much as they can: each takes long to look at, or much memory.

The column that is declared is `x`, of whole numbers. The fields are those of apache/parquet-format, parquet.thrift.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


class Typed(NamedTuple):
    """A value of Thrift's compact protocol."""

    kind: int
    content: bytes


def varint(value: int) -> bytes:
    """A number in seven bits a byte."""
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def i32(value: int) -> Typed:
    """A number of 32 bits."""
    return Typed(I32, varint(value << 1))


def i64(value: int) -> Typed:
    """A number of 64 bits."""
    return Typed(I64, varint(value << 1))


def text(value: bytes) -> Typed:
    """Bytes with their length."""
    return Typed(BINARY, varint(len(value)) + value)


def struct(**fields: Typed) -> Typed:
    """A struct of fields that are named `_1`, `_2` and so on."""
    content, last = b"", 0
    for name, (kind, value) in fields.items():
        field = int(name[1:])
        content += bytes([(field - last) << 4 | kind]) + value
        last = field
    return Typed(STRUCT, content + b"\0")


def many(kind: int, elements: Iterable[bytes], size: int) -> Typed:
    """A list of this many elements."""
    return Typed(LIST, bytes([0xF0 | kind]) + varint(size) + b"".join(elements))


def repeated(element: Typed, size: int) -> Typed:
    """A list of equal elements."""
    return many(element.kind, [element.content * size], size)


def element(name: bytes, children: int = 0) -> bytes:
    """An element of the schema: a required column of 64 bits, or a group."""
    if children:
        return struct(_3=i32(0), _4=text(name), _5=i32(children)).content
    return struct(_1=i32(2), _3=i32(0), _4=text(name)).content


def chunk(pages: int, values: int, name: bytes = b"x") -> Typed:
    """A column's chunk, uncompressed, whose pages are the first bytes of the file."""
    at, size = 4, i64(pages)
    path, encodings = many(BINARY, [text(name).content], 1), many(I32, [b"\0"], 1)
    data = struct(_1=i32(2), _2=encodings, _3=path, _4=i32(0), _5=i64(values), _6=size, _7=size, _9=i64(at))
    return struct(_2=i64(at), _3=data)


def group(chunks: Iterable[Typed], rows: int) -> bytes:
    """A row group."""
    contents = [each.content for each in chunks]
    return struct(_1=many(STRUCT, contents, len(contents)), _2=i64(rows * 8), _3=i64(rows)).content


def page(values: int, *, statistics: bytes | None = None, unknown: Typed | None = None) -> bytes:
    """A page of zeros without compression, with a header that may be long."""
    data = {"_1": i32(values), "_2": i32(0), "_3": i32(3), "_4": i32(3)}
    if statistics is not None:
        data["_5"] = struct(_1=text(statistics), _2=text(statistics))
    header = {"_1": i32(0), "_2": i32(8 * values), "_3": i32(8 * values), "_5": struct(**data)}
    if unknown is not None:
        header["_12"] = unknown
    return struct(**header).content + bytes(8 * values)


def write(pages: bytes, schema: list[bytes], rows: int, groups: list[bytes], **more: Typed) -> bytes:
    """A file of pages and a footer."""
    fields = {"_1": i32(2), "_2": many(STRUCT, schema, len(schema)), "_3": i64(rows)}
    footer = struct(**fields, _4=many(STRUCT, groups, len(groups)), **more).content
    return b"PAR1" + pages + footer + len(footer).to_bytes(4, "little") + b"PAR1"


ONE_COLUMN = [element(b"schema", 1), element(b"x")]
FOOTER_BYTES = 2**24 - 2**10


def tiny_pages(pages: int = 2**19) -> bytes:
    """Pages of one value each"""
    content = page(1) * pages
    return write(content, ONE_COLUMN, pages, [group([chunk(len(content), pages)], pages)])


def shared_tiny_pages(groups: int = 2**10, each: int = 2**9) -> bytes:
    """Row groups that share their pages of one value each"""
    content = page(1) * each
    return write(content, ONE_COLUMN, groups * each, [group([chunk(len(content), each)], each)] * groups)


def long_statistics(pages: int = 2**11 - 2**5, size: int = 2**12) -> bytes:
    """Pages of one value each, with long statistics"""
    content = page(1, statistics=bytes(size)) * pages
    return write(content, ONE_COLUMN, pages, [group([chunk(len(content), pages)], pages)])


def shared_long_statistics(groups: int = 2**10, size: int = 2**22) -> bytes:
    """Row groups that share a page with the longest statistics"""
    content = page(1, statistics=bytes(size))
    return write(content, ONE_COLUMN, groups, [group([chunk(len(content), 1)], 1)] * groups)


def unknown_fields(groups: int = 15, size: int = 2**20) -> bytes:
    """Row groups that share a page whose header has an unknown list of hundreds of thousands of texts"""
    content = page(1, unknown=repeated(Typed(BINARY, b"\1a"), size // 2))
    return write(content, ONE_COLUMN, groups, [group([chunk(len(content), 1)], 1)] * groups)


def row_groups_without_rows(groups: int = 2**15) -> bytes:
    """Row groups without rows"""
    one, content = group([chunk(0, 0)], 0), page(2)
    return write(content, ONE_COLUMN, 2, [group([chunk(len(content), 2)], 2), *[one] * (groups - 1)])


def row_groups_of_one_row(groups: int = 2**15) -> bytes:
    """Row groups that share a row"""
    content = page(1)
    return write(content, ONE_COLUMN, groups, [group([chunk(len(content), 1)], 1)] * groups)


def row_groups_without_end() -> bytes:
    """As many row groups as 16 MiB can hold"""
    return row_groups_of_one_row(FOOTER_BYTES // len(group([chunk(40, 1)], 1)))


def columns_without_rows(columns: int = 2**18) -> bytes:
    """Columns without rows"""
    return write(b"", [element(b"schema", columns), element(b"x"), *[element(b"c")] * (columns - 1)], 0, [])


def columns_in_row_groups(columns: int = 5_000, groups: int = 50) -> bytes:
    """Thousands of columns in row groups that share a row"""
    names, content = [b"x", *(b"c%d" % i for i in range(1, columns))], page(1)
    one = group([chunk(len(content), 1, name) for name in names], 1)
    return write(content, [element(b"schema", columns), *map(element, names)], groups, [one] * groups)


def deep_schema(depth: int = 2**18) -> bytes:
    """Groups of columns in one another"""
    nested = [element(b"g", 1)] * depth
    return write(b"", [element(b"schema", 2), element(b"x"), *nested, element(b"y")], 0, [])


def unknown_field_of_footer(size: int = FOOTER_BYTES) -> bytes:
    """A footer with an unknown list of millions of texts"""
    content, unknown = page(2), repeated(Typed(BINARY, b"\1a"), size // 2)
    return write(content, ONE_COLUMN, 2, [group([chunk(len(content), 2)], 2)], _15=unknown)


def empty_structs(size: int = FOOTER_BYTES) -> bytes:
    """A row group of millions of empty structs instead of columns"""
    chunks = repeated(Typed(STRUCT, b"\0"), size)
    return write(b"", ONE_COLUMN, 2, [struct(_1=chunks, _2=i64(8), _3=i64(2)).content])


def long_footer(size: int = 2**29) -> bytes:
    """A footer of 512 MiB"""
    return b"PAR1" + bytes(size) + size.to_bytes(4, "little") + b"PAR1"


BOMBS: dict[str, Callable[[], bytes]] = {
    each.__name__: each
    for each in (
        tiny_pages,
        shared_tiny_pages,
        long_statistics,
        shared_long_statistics,
        unknown_fields,
        row_groups_without_rows,
        row_groups_of_one_row,
        row_groups_without_end,
        columns_without_rows,
        columns_in_row_groups,
        deep_schema,
        unknown_field_of_footer,
        empty_structs,
        long_footer,
    )
}
