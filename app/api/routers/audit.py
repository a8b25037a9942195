"""The record of administrative acts."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.documentation import described
from app.api.requests import CallerOf, DirectRoute, PageOf
from app.api.responses import json_response, listed
from app.api.schemas import answers
from app.services import audits

router = APIRouter(prefix="/v1/audit", tags=["audit"], route_class=DirectRoute)


@router.get("", **described({200: (answers.AuditRecords, "A page.")}, 403, paged=True))
def records(caller: CallerOf, page: PageOf) -> Response:
    """Every administrative act, oldest first: who did what to what, when, and in which request.

    For admins and auditors. Each was written in the transaction of its act and seals all before it. None holds a key, a
    token or a value of the data.
    """
    audits.require_reader(caller.services, caller.credential)
    return listed("records", audits.listed(caller.services, page.after_number, page.limit + 1), page.limit, "seq")


@router.get("/verification", **described({200: (answers.Verification, "What was found.")}, 403))
def verification(caller: CallerOf) -> Response:
    """Whether the records are what was written, and every principal what they make of it: all computed again.

    A principal that was made, promoted or given a key in the database, and not by the service, is found by it.
    """
    audits.require_reader(caller.services, caller.credential)
    return json_response(audits.verified(caller.services))
