"""Drafts of tables for owners: what a registration could declare. They have values of the data, and are not kept."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple

from app.engines.errors import EngineFailure, InvalidFile
from app.engines.ingest.drafting.draft import DraftedColumns, complete_metadata
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest_process.slots import SlotsBusy
from app.engines.storage.connections import TableOrigin
from app.errors import InvalidRequestError, OverloadedError, UnavailableError
from app.services.context import Services
from app.services.datasets.registration import require_connection
from app.services.rendering.documents import Document


class FileToDraft(NamedTuple):
    """An uploaded file, the name that its owner gave it, and what is known of its format."""

    content: BinaryIO
    name: str
    form: FileFormat
    has_header: bool


def draft_upload(services: Services, file: FileToDraft, interrupted: Callable[[], bool]) -> Document:
    """Return a draft of an uploaded file. This may take long; it ends early when `interrupted` returns true.

    Raises:
        InvalidRequestError: the file is no table that could be registered, or needs too many resources.
        OverloadedError: too many other files are being read.
        UnavailableError: the client has disconnected, or the file could not be read.
    """
    draft = services.tables.drafts.draft_upload
    call = partial(draft, file.content, file.form, interrupted, has_header=file.has_header)
    return _draft(PurePosixPath(file.name).stem, call)


def draft_source(services: Services, origin: TableOrigin, interrupted: Callable[[], bool]) -> Document:
    """Return a draft of a table of a connection, with its `source`; see `draft_upload`.

    Raises:
        InvalidRequestError: there is no such connection or table, or it could not be registered so.
        OverloadedError, UnavailableError: as `draft_upload`.
    """
    require_connection(services, origin)
    name = re.split(r'[./"]', origin.table.removesuffix(".parquet").strip('/"'))[-1]
    document = _draft(name, lambda: services.tables.drafts.draft_from(origin, interrupted))
    document["metadata"]["source"] = origin.describe()
    return document


def _draft(name: str, draft: Callable[[], DraftedColumns]) -> Document:
    try:
        drafted = draft()
    except InvalidFile as error:
        raise InvalidRequestError(*error.problems) from None
    except SlotsBusy as error:
        raise OverloadedError from error
    except EngineFailure as error:
        raise UnavailableError from error
    left_out = [{"column": column, "reason": reason} for column, reason in drafted.left_out.items()]
    return {"metadata": complete_metadata(name, drafted.described), "left_out": left_out}


def list_connections(services: Services) -> list[Document]:
    """Return the configured connections by name. Their addresses stay with the operator."""
    return [{"name": name, "leads_to": leads_to} for name, leads_to in services.tables.list_connections()]
