"""Drafts of tables for their owners, before they are registered; nothing of them is kept."""

from functools import partial

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.api.json_codec import decode
from app.api.openapi.operations import describe_responses, json_body, upload_body
from app.api.parameters.callers import BEARER, CallerOf
from app.api.request_bodies import media_type, read_json, read_upload, require_media_type
from app.api.responses import json_response
from app.api.schemas import responses
from app.api.schemas.base import validate
from app.api.schemas.drafts import DraftRequest, DraftUpload, SourcedDraftRequest
from app.api.strict_route import StrictRoute
from app.api.uploads import OpenUploads
from app.engines.ingest.file_format import FileFormat
from app.engines.storage.connections import TableOrigin
from app.services import access
from app.services.datasets import drafts

router = APIRouter(prefix="/v1", tags=["datasets"], route_class=StrictRoute, dependencies=[BEARER])


DRAFTED = {200: (responses.Draft, "What a registration could declare.")}


@router.post(
    "/drafts",
    operation_id="createDraft",
    summary="Draft the metadata of a table of a connection",
    responses=describe_responses(DRAFTED, 403),
    openapi_extra={"requestBody": json_body(SourcedDraftRequest)},
)
async def draft(request: Request, caller: CallerOf) -> Response:
    """Draft the metadata of the table that `source` names, for owners.

    The draft has values of the data (bounds and categories), listed as `unconfirmed`, and is for the table's owner
    only. The service does not keep it. An upload, as `POST /v1/draft-uploads` takes it, is accepted here too.
    """
    # Asynchronous, as a registration is.
    if media_type(request.headers) != "application/json":
        return await draft_upload(request, caller)
    owner = await run_in_threadpool(access.require_owner, caller.services.database, caller.credential)
    uploads: OpenUploads = request.app.state.uploads
    require_media_type(request.headers, "application/json")
    source = (await run_in_threadpool(_read_elsewhere, await read_json(request))).source
    origin = TableOrigin(source.connection, source.table, source.live, source.prepare)
    with uploads.open_for(owner.name):
        return json_response(await uploads.run(request, partial(drafts.draft_source, caller.services, origin)))


@router.post(
    "/draft-uploads",
    operation_id="createDraftOfFile",
    summary="Draft the metadata of a file",
    responses=describe_responses(DRAFTED, 403),
    openapi_extra={"requestBody": upload_body(DraftUpload)},
)
async def draft_upload(request: Request, caller: CallerOf) -> Response:
    """Draft the metadata of the table in `file`, for owners; `metadata` says what they know of its format.

    The draft has values of the data, and is for the table's owner only. The service keeps neither file nor draft.
    """
    owner = await run_in_threadpool(access.require_owner, caller.services.database, caller.credential)
    uploads: OpenUploads = request.app.state.uploads
    require_media_type(request.headers, "multipart/form-data")
    with uploads.open_for(owner.name):
        async with read_upload(request, caller.services.settings.max_upload_bytes) as upload:
            known = await run_in_threadpool(_read_metadata, upload.metadata)
            form = FileFormat(**known.format.model_dump())
            file = drafts.FileToDraft(upload.file, upload.name, form, known.has_header)
            return json_response(await uploads.run(request, partial(drafts.draft_upload, caller.services, file)))


def _read_elsewhere(body: bytes) -> SourcedDraftRequest:
    return validate(SourcedDraftRequest, decode(body))


def _read_metadata(metadata: bytes) -> DraftRequest:
    return validate(DraftRequest, decode(metadata))


@router.get(
    "/connections",
    operation_id="listConnections",
    summary="List the connections",
    responses=describe_responses({200: (responses.Connections, "The connections.")}, 403),
)
def list_connections(caller: CallerOf) -> Response:
    """The connections that the operator configured, for owners: by name, without their addresses."""
    access.require_owner(caller.services.database, caller.credential)
    return json_response({"connections": drafts.list_connections(caller.services)})
