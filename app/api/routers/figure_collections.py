"""Collections of figures, and who may see them."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.figure_responses import Known, collected_response
from app.api.list_pages import PageByNameOf
from app.api.openapi.operations import READERS_ACCESS, describe_responses
from app.api.parameters.callers import BEARER, CallerOf, ReaderOf
from app.api.parameters.conditional_headers import IfMatchHeaders, IfNoneMatchHeaders, read_precondition
from app.api.parameters.json_bodies import JsonBody
from app.api.parameters.query_parameters import SearchOf
from app.api.responses import MEDIA_TYPE, created_response, json_response, list_response
from app.api.schemas import figure_collections as schemas
from app.errors import AlreadyExistsError, NameTakenError, PreconditionFailedError
from app.json_text import encode_json
from app.services import access
from app.services.figures import collection_changes, collection_grants, collection_reading
from app.services.figures.collection_changes import CollectionDefinition, FigureName
from app.services.preconditions import entity_tag

router = APIRouter(prefix="/v1/collections", tags=["figures"], route_class=DirectRoute, dependencies=[BEARER])


@router.get(
    "",
    operation_id="listCollections",
    summary="List collections",
    openapi_extra=READERS_ACCESS,
    responses=describe_responses({200: (schemas.Collections, "A page of collections.")}),
)
def list_collections(reader: ReaderOf, page: PageByNameOf, search: SearchOf) -> Response:
    """The collections of figures that the caller may see, by name; without a key, the public ones."""
    found = collection_reading.list_collections(
        reader.services, reader.credential, page.after_name, page.limit + 1, search=search.text
    )
    return list_response("collections", found, page, "name")


@router.put(
    "/{name}",
    operation_id="setCollection",
    summary="Create or change a collection",
    status_code=201,
    responses=describe_responses(
        {
            200: (schemas.Collection, "The collection as it is now, or as it was if nothing changed."),
            201: (schemas.Collection, "The new collection."),
        },
        *(403, 404, NameTakenError, 412),
    ),
)
def put_collection(
    name: str,
    caller: CallerOf,
    body: JsonBody[schemas.CollectionRequest],
    if_match: IfMatchHeaders = None,
    if_none_match: IfNoneMatchHeaders = None,
) -> Response:
    """Make a collection of figures, possibly of several datasets, or change it. The same again changes nothing.

    For owners, with figures of their own datasets, and for admins: a collection shows its figures to its viewers.
    """
    principal = access.require_owner(caller.services.database, caller.credential)
    request, wanted = body.validate(), read_precondition(if_match, if_none_match)
    names = [FigureName(each.dataset, each.figure) for each in request.figures]
    asked = CollectionDefinition(request.title, request.note, request.audience, names)
    document, is_new = collection_changes.put_collection(caller.services, principal, name, asked, wanted)
    if is_new:
        return created_response(document, f"/v1/collections/{name}")
    return json_response(document)


@router.get(
    "/{name}",
    operation_id="getCollection",
    summary="Get a collection",
    openapi_extra=READERS_ACCESS,
    responses=describe_responses({200: (schemas.Collection, "The collection."), 304: (None, "Not changed.")}, 404),
)
def one_collection(name: str, reader: ReaderOf, known: Known = None) -> Response:
    """A collection with those of its figures that the caller may see; without a key, the public ones.

    Its `ETag` changes with the collection, and with each of these figures.
    """
    document = collection_reading.open_collection(reader.services, reader.credential, name).describe()
    return collected_response(
        entity_tag(document),
        MEDIA_TYPE,
        lambda: encode_json(document),
        known,
        is_shared=reader.credential is None,
        more={},
    )


@router.delete(
    "/{name}",
    operation_id="deleteCollection",
    summary="Delete a collection",
    status_code=204,
    responses=describe_responses({204: (None, "Deleted.")}, 403, 404, PreconditionFailedError),
)
def delete_collection(name: str, caller: CallerOf, if_match: IfMatchHeaders = None) -> Response:
    """Delete a collection with all that was granted on it. Its figures stay published."""
    principal = access.require_owner(caller.services.database, caller.credential)
    collection_changes.delete_collection(caller.services, principal, name, read_precondition(if_match))
    return Response(status_code=204)


@router.get(
    "/{name}/viewers",
    operation_id="listCollectionViewers",
    summary="List the viewers of a collection",
    responses=describe_responses({200: (schemas.CollectionViewers, "A page of viewers.")}, 403, 404),
)
def list_viewers(name: str, caller: CallerOf, page: PageByNameOf) -> Response:
    """Who may see a collection, for its owner, admins and auditors."""
    principal = collection_grants.require_overseer(caller.services, caller.credential)
    found = collection_grants.list_viewers(caller.services, principal, name, page.after_name, page.limit + 1)
    return list_response("viewers", found, page, "name")


@router.get(
    "/{name}/viewers/{principal}",
    operation_id="getCollectionViewer",
    summary="Get a viewer of a collection",
    responses=describe_responses({200: (schemas.CollectionViewer, "The viewer.")}, 403, 404),
)
def one_viewer(name: str, principal: str, caller: CallerOf) -> Response:
    """A principal that may see a collection, and since when, for its owner, admins and auditors."""
    asking = collection_grants.require_overseer(caller.services, caller.credential)
    return json_response(collection_grants.describe_viewer(caller.services, asking, name, principal))


@router.put(
    "/{name}/viewers/{principal}",
    operation_id="grantCollectionViewer",
    summary="Let a principal see a collection",
    status_code=201,
    responses=describe_responses(
        {201: (schemas.CollectionViewer, "It may see the collection now."), 204: (None, "It could see it before.")},
        *(403, 404, AlreadyExistsError),
    ),
)
def grant_viewer(name: str, principal: str, caller: CallerOf, if_none_match: IfNoneMatchHeaders = None) -> Response:
    """Let a principal see the figures that are in the collection, and nothing else of their datasets."""
    asking = access.require_owner(caller.services.database, caller.credential)
    wanted = read_precondition(None, if_none_match)
    if not collection_grants.grant_viewer(caller.services, asking, name, principal, wanted):
        return Response(status_code=204)
    viewer = collection_grants.describe_viewer(caller.services, asking, name, principal)
    return created_response(viewer, f"/v1/collections/{name}/viewers/{principal}")


@router.delete(
    "/{name}/viewers/{principal}",
    operation_id="revokeCollectionViewer",
    summary="Take a collection from a viewer",
    status_code=204,
    responses=describe_responses({204: (None, "Revoked.")}, 403, 404),
)
def revoke_viewer(name: str, principal: str, caller: CallerOf) -> Response:
    """Revoke a principal's access to a collection."""
    asking = access.require_owner(caller.services.database, caller.credential)
    collection_grants.revoke_viewer(caller.services, asking, name, principal)
    return Response(status_code=204)
