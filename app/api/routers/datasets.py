"""Datasets: registered by upload, described by public facts, deleted for good."""

from collections.abc import Mapping
from functools import partial
from typing import BinaryIO

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.api.json_codec import decode
from app.api.list_pages import PageOf
from app.api.openapi.operations import NOT_OPEN, describe_responses, json_body, upload_body
from app.api.parameters.callers import BEARER, CallerOf
from app.api.request_bodies import media_type, read_json, read_upload, require_media_type
from app.api.responses import created_response, json_response, list_response
from app.api.schemas import responses
from app.api.schemas.base import validate
from app.api.schemas.datasets import Column, DatasetRequest, DatasetUpload, SourcedDatasetRequest
from app.api.strict_route import StrictRoute
from app.api.uploads import OpenUploads
from app.db.repositories.principals import Principal
from app.engines.ingest import Units
from app.engines.ingest.file_format import FileFormat
from app.engines.storage.connections import TableOrigin
from app.errors import DatasetClosedError, NameTakenError
from app.services import access
from app.services.context import Services
from app.services.datasets import closure, dataset_facts, revalidation
from app.services.datasets.registration import (
    Registration,
    check_registration,
    ingest,
    register_dataset,
)
from app.services.planning.columns import DeclaredColumns
from app.services.rendering.documents import Document

router = APIRouter(prefix="/v1", tags=["datasets"], route_class=StrictRoute, dependencies=[BEARER])


def collect_declared_columns(columns: Mapping[str, Column]) -> DeclaredColumns:
    """Return the owner's declarations of columns, without members that are null or only matter for drafts."""
    return {name: column.model_dump(exclude_none=True, exclude={"unconfirmed"}) for name, column in columns.items()}


def _read_elsewhere(body: bytes) -> Registration:
    """Return the registration in a JSON body, of a table in a database. A long body takes time: call it in a thread."""
    request = validate(SourcedDatasetRequest, decode(body))
    source = request.source
    return to_registration(request, TableOrigin(source.connection, source.table, source.live, source.prepare))


def _read_metadata(metadata: bytes) -> Registration:
    """Return the registration in the metadata of an upload. Long metadata takes time: call it in a thread."""
    return to_registration(validate(DatasetRequest, decode(metadata)))


def to_registration(request: DatasetRequest, origin: TableOrigin | None = None) -> Registration:
    """Return the registration that a request asks for."""
    unit = request.unit_column
    return Registration(
        name=request.name,
        description=request.description,
        epsilon_limit_nano=request.epsilon_limit,
        rows_per_unit=request.rows_per_unit,
        columns=collect_declared_columns(request.columns),
        null_values=request.null_values,
        succeeds=request.succeeds,
        form=FileFormat(
            delimiter=request.delimiter,
            **request.format.model_dump(exclude={"column_names"}),
            column_names=tuple(request.format.column_names),
        ),
        units=None if unit is None else Units(unit, request.rows_per_unit, request.truncate),
        origin=origin,
    )


REGISTERED = {201: (responses.RegisteredDataset, "The dataset, and a report on its values.")}


@router.post(
    "/datasets",
    operation_id="registerDataset",
    summary="Register a table of a connection",
    status_code=201,
    responses=describe_responses(REGISTERED, 403, NameTakenError),
    openapi_extra={"requestBody": json_body(SourcedDatasetRequest)},
)
async def register(request: Request, caller: CallerOf) -> Response:
    """Register a table of a connection that the operator configured: `source` says where it is.

    An upload, as `POST /v1/dataset-uploads` takes it, is accepted here too.
    """
    # Asynchronous, unlike the other routes: it reads an uploaded file only after it knows that the caller may send one.
    if media_type(request.headers) != "application/json":
        return await upload(request, caller)
    owner = await run_in_threadpool(access.require_owner, caller.services.database, caller.credential)
    uploads: OpenUploads = request.app.state.uploads
    require_media_type(request.headers, "application/json")
    registration = await run_in_threadpool(_read_elsewhere, await read_json(request))
    with uploads.open_for(owner.name):
        registered = await _register(request, uploads, caller.services, owner, registration, None)
    return created_response(registered, f"/v1/datasets/{registration.name}")


@router.post(
    "/dataset-uploads",
    operation_id="uploadDataset",
    summary="Register a table of a file",
    status_code=201,
    responses=describe_responses(REGISTERED, 403, NameTakenError),
    openapi_extra={"requestBody": upload_body(DatasetUpload)},
)
async def upload(request: Request, caller: CallerOf) -> Response:
    """Register the table in `file`, which `metadata` describes."""
    owner = await run_in_threadpool(access.require_owner, caller.services.database, caller.credential)
    uploads: OpenUploads = request.app.state.uploads
    require_media_type(request.headers, "multipart/form-data")
    with uploads.open_for(owner.name):
        async with read_upload(request, caller.services.settings.max_upload_bytes) as received:
            registration = await run_in_threadpool(_read_metadata, received.metadata)
            registered = await _register(request, uploads, caller.services, owner, registration, received.file)
    return created_response(registered, f"/v1/datasets/{registration.name}")


async def _register(  # noqa: PLR0913, PLR0917 - who registers what, and how it is read
    request: Request,
    uploads: OpenUploads,
    services: Services,
    owner: Principal,
    registration: Registration,
    file: BinaryIO | None,
) -> Document:
    await run_in_threadpool(check_registration, services, owner, registration)
    ingested = await uploads.run(request, partial(ingest, services, registration, file))
    return await run_in_threadpool(register_dataset, services, owner, registration, ingested)


@router.get(
    "/datasets",
    operation_id="listDatasets",
    summary="List the datasets",
    responses=describe_responses({200: (responses.Datasets, "A page of datasets.")}),
)
def list_datasets(caller: CallerOf, page: PageOf) -> Response:
    """The datasets that the caller may see."""
    found = dataset_facts.list_datasets(
        caller.services, caller.credential, page.after_name, page.limit + 1, newest=page.newest
    )
    return list_response("datasets", found, page, "name")


@router.get(
    "/datasets/{name}",
    operation_id="getDataset",
    summary="Get a dataset",
    responses=describe_responses({200: (responses.Dataset, "The dataset.")}, 404),
)
def one_dataset(name: str, caller: CallerOf) -> Response:
    """A dataset's public facts."""
    return json_response(dataset_facts.describe_dataset(caller.services, caller.enter(name)))


@router.post(
    "/datasets/{name}/revalidation",
    operation_id="revalidateDataset",
    summary="Check a live table again",
    responses=describe_responses({200: (responses.Dataset, "The dataset.")}, 403, 404, *NOT_OPEN),
)
def revalidate(name: str, caller: CallerOf) -> Response:
    """Repeat the checks of registration on a live table: a stale dataset opens if rows, types and units are as then.

    Otherwise the dataset is stale. Only its owner may call this, and the response does not reveal the number of rows.
    """
    return json_response(revalidation.revalidate_dataset(caller.services, caller.enter(name)))


@router.delete(
    "/datasets/{name}",
    operation_id="closeDataset",
    summary="Delete the data of a dataset",
    status_code=204,
    responses=describe_responses({204: (None, "Deleted.")}, 403, 404, DatasetClosedError),
)
def close(name: str, caller: CallerOf) -> Response:
    """Delete the data for good; the ledger and the releases stay readable, and the name stays taken."""
    closure.close_dataset(caller.services, caller.enter(name))
    return Response(status_code=204)
