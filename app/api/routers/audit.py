"""The audit log of administrative acts."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.direct_route import DirectRoute
from app.api.list_pages import PageOf
from app.api.openapi.operations import describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.responses import json_response, list_response
from app.api.schemas import responses
from app.services import audit_records

router = APIRouter(prefix="/v1/audit", tags=["audit"], route_class=DirectRoute, dependencies=[BEARER])


@router.get(
    "",
    operation_id="listAuditRecords",
    summary="List the records of the audit log",
    responses=describe_responses({200: (responses.AuditRecords, "A page of records.")}, 403),
)
def records(caller: CallerOf, page: PageOf) -> Response:
    """The audit log of administrative acts: who did what to what, when, and in which request.

    For admins and auditors. Each record was written in the transaction of its act, and its hash seals all records
    before it. No record contains a key, a token or a value of the data.
    """
    audit_records.require_reader(caller.services, caller.credential)
    found = audit_records.list_records(caller.services, page.after_number, page.limit + 1, newest=page.newest)
    return list_response("records", found, page, "seq")


@router.get(
    "/verification",
    operation_id="verifyAuditRecords",
    summary="Verify the audit log",
    responses=describe_responses({200: (responses.Verification, "The result of the verification.")}, 403),
)
def verification(caller: CallerOf) -> Response:
    """Verify the records: compute every hash again, and compare every principal with its records.

    This finds a principal that was created, promoted or given a key directly in the database.
    """
    return json_response(audit_records.verify_records(caller.services, caller.credential))


@router.get(
    "/verification/latest",
    operation_id="getLatestAuditVerification",
    summary="Get the latest verification of the audit log",
    responses=describe_responses({200: (responses.LatestVerification, "The latest verification.")}, 403),
)
def latest_verification(caller: CallerOf) -> Response:
    """When the records were verified last, by whom, and what was found; null if they never were."""
    audit_records.require_reader(caller.services, caller.credential)
    return json_response(audit_records.describe_latest_verification(caller.services))
