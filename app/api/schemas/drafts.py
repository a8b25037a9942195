"""What an owner knows of a table whose description the service is to draft."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from app.api.schemas.base import RequestModel
from app.api.schemas.datasets import KnownFormat, TableSource, UploadedFile
from app.api.schemas.field_types.numbers import Flag, refuse


class DraftRequest(RequestModel):
    """The `metadata` of a file to draft: what its owner knows of its format. The rest is detected."""

    format: KnownFormat = Field(default=KnownFormat(), description="What the file itself may not show.")
    has_header: Flag = Field(default=True, description="Whether a line of the file has the names of the columns.")

    @model_validator(mode="after")
    def _without_contradictions(self) -> Self:
        if self.format.header_row is not None and not self.has_header:
            raise refuse("has a `header_row`, but `has_header` is false")
        return self


class DraftUpload(BaseModel):
    """The two parts of an upload."""

    metadata: DraftRequest
    file: UploadedFile


class SourcedDraftRequest(RequestModel):
    """A table in a database, or in files elsewhere, to draft."""

    source: TableSource
