"""Principals and keys."""

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.list_pages import PageOf
from app.api.openapi.operations import describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.json_bodies import JsonBody
from app.api.responses import created_response, json_response, list_response
from app.api.schemas import responses
from app.api.schemas.administration import DisplayNameRequest, KeyRequest, PrincipalRequest
from app.db.repositories.principals import Principal
from app.errors import LastAdminError, NameTakenError
from app.services.datasets.budgets import allowance_document
from app.services.identity import principals
from app.services.identity.principals import IssuedKey

router = APIRouter(prefix="/v1", tags=["principals"], route_class=DirectRoute, dependencies=[BEARER])

KeyBody = Annotated[JsonBody[KeyRequest], Body(default_factory=KeyRequest)]


def _principal_document(principal: Principal) -> dict[str, object]:
    return {
        "name": principal.name,
        "display_name": principal.display_name,
        "role": principal.role,
        "created_at": principal.created_at,
        "disabled": principal.disabled_at is not None,
        "key_expires_at": principal.key_expires_at,
        "subject": principal.subject,
    }


def _path(name: str) -> str:
    return f"/v1/principals/{name}"


def _render_issued_key(issued: IssuedKey) -> dict[str, object]:
    return _principal_document(issued.principal) | {"key": issued.key}


@router.post(
    "/principals",
    operation_id="createPrincipal",
    summary="Create a principal",
    status_code=201,
    responses=describe_responses({201: (responses.IssuedKey, "The principal, with its key.")}, 403, NameTakenError),
)
def create(caller: CallerOf, body: JsonBody[PrincipalRequest]) -> Response:
    """Create a principal; its key is shown only once."""
    admin = principals.require_admin(caller.services, caller.credential)
    request, seal = body.validate(), caller.services.keyring.seal
    asked = (request.name, request.role, request.key_expires_at, request.display_name)
    issued = principals.create_principal(caller.services.database, seal, admin, *asked)
    return created_response(_render_issued_key(issued), _path(issued.principal.name))


@router.get(
    "/principals",
    operation_id="listPrincipals",
    summary="List the principals",
    responses=describe_responses({200: (responses.Principals, "A page of principals.")}, 403),
)
def list_principals(caller: CallerOf, page: PageOf) -> Response:
    """All principals; never their keys."""
    principals.require_admin(caller.services, caller.credential)
    found = principals.list_principals(caller.services, page.after_name, page.limit + 1, newest=page.newest)
    return list_response("principals", [_principal_document(principal) for principal in found], page, "name")


@router.get(
    "/principals/{name}",
    operation_id="getPrincipal",
    summary="Get a principal",
    responses=describe_responses({200: (responses.Principal, "The principal.")}, 403, 404),
)
def one_principal(name: str, caller: CallerOf) -> Response:
    """A principal, disabled or not; never its key."""
    principals.require_admin(caller.services, caller.credential)
    return json_response(_principal_document(principals.find_principal(caller.services, name)))


@router.post(
    "/principals/{name}/keys",
    operation_id="replacePrincipalKey",
    summary="Replace the key of a principal",
    status_code=201,
    responses=describe_responses({201: (responses.IssuedKey, "The principal, with its new key.")}, 403, 404),
)
def replace_key(name: str, caller: CallerOf, body: KeyBody) -> Response:
    """Give a principal a new key; the old one stops working. Without a body, the new key never expires."""
    admin = principals.require_admin(caller.services, caller.credential)
    named = principals.require_in_force(caller.services, name)
    expires_at, seal = body.validate().key_expires_at, caller.services.keyring.seal
    issued = principals.replace_key(caller.services.database, seal, admin, named.name, expires_at)
    return created_response(_render_issued_key(issued), _path(named.name))


@router.put(
    "/principals/{name}/display-name",
    operation_id="setDisplayName",
    summary="Change a display name",
    responses=describe_responses({200: (responses.Principal, "The principal.")}, 403, 404),
)
def set_display_name(name: str, caller: CallerOf, body: JsonBody[DisplayNameRequest]) -> Response:
    """Change how people call a principal. Its name, which the ledger records, never changes."""
    admin = principals.require_admin(caller.services, caller.credential)
    named = principals.require_in_force(caller.services, name)
    display_name = body.validate().display_name
    return json_response(
        _principal_document(principals.set_display_name(caller.services, admin, named.name, display_name))
    )


@router.delete(
    "/principals/{name}",
    operation_id="disablePrincipal",
    summary="Disable a principal",
    status_code=204,
    responses=describe_responses({204: (None, "Disabled.")}, 403, 404, LastAdminError),
)
def disable(name: str, caller: CallerOf) -> Response:
    """Disable a principal for good."""
    admin = principals.require_admin(caller.services, caller.credential)
    principals.disable_principal(caller.services, admin, name)
    return Response(status_code=204)


@router.get(
    "/me",
    operation_id="getMe",
    summary="Get who you are",
    responses=describe_responses({200: (responses.Me, "The caller.")}),
)
def me(caller: CallerOf) -> Response:
    """Who the caller is, and what it may spend on which dataset."""
    principal, allowances = principals.describe_caller(caller.services, caller.credential)
    document = {
        "name": principal.name,
        "display_name": principal.display_name,
        "role": principal.role,
        "created_at": principal.created_at,
        "key_expires_at": principal.key_expires_at,
    }
    held = [{"dataset": dataset} | allowance_document(allowance) for dataset, allowance in allowances]
    return json_response(document | {"allowances": held})


@router.post(
    "/me/key",
    operation_id="replaceOwnKey",
    summary="Replace your own key",
    status_code=201,
    responses=describe_responses({201: (responses.IssuedKey, "The caller, with its new key.")}, 403),
)
def replace_own_key(caller: CallerOf, body: KeyBody) -> Response:
    """Give the caller a new key; the key of this request stops working.

    The new key expires when the old one would have, or earlier if requested. 403 for a caller who sends a token.
    """
    principals.require_key(caller.services, caller.credential)
    expires_at = body.validate().key_expires_at
    issued = principals.replace_own_key(caller.services, caller.credential, expires_at)
    return created_response(_render_issued_key(issued), "/v1/me")
