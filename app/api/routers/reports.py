"""Reports: batches that are released and published when a dataset succeeds this one, within a budget set before."""

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from app.api import problems
from app.api.direct_route import DirectRoute
from app.api.json_codec import canonical_text, decode
from app.api.list_pages import PageByNameOf, PageOf
from app.api.openapi.operations import describe_responses
from app.api.parameters.callers import BEARER, CallerOf
from app.api.parameters.conditional_headers import IfMatchHeaders, IfNoneMatchHeaders, read_precondition
from app.api.parameters.json_bodies import JsonBody
from app.api.responses import MEDIA_TYPE, created_response, json_response, list_response, tagged_response
from app.api.routers.batches import batch_of
from app.api.schemas import reports as schemas
from app.api.schemas.base import validate
from app.errors import PreconditionFailedError
from app.services.reports import defining, report_documents
from app.services.reports.definition import Definition, ReportFigure, Terms
from app.services.reports.running import Interface

router = APIRouter(
    prefix="/v1/datasets/{name}/reports", tags=["reports"], route_class=DirectRoute, dependencies=[BEARER]
)


def _definition_of(request: schemas.ReportDefinition, text: str) -> Definition:
    """Return the definition that a request makes; `text` is the same as canonical JSON."""
    figures = [ReportFigure(each.figure, each.title, each.note, each.audience, each.items) for each in request.figures]
    return Definition(batch_of(request.batch), figures, text)


def read_definition(text: str) -> Definition:
    """Return a stored definition."""
    return _definition_of(validate(schemas.ReportDefinition, decode(text.encode())), text)


REPORT_INTERFACE: Final = Interface(read_definition, problems.describe_error)
"""What the runs of reports need of the interface."""


@router.get(
    "",
    operation_id="listReports",
    summary="List the reports of a dataset",
    responses=describe_responses({200: (schemas.Reports, "A page of reports.")}, 404),
)
def all_reports(name: str, caller: CallerOf, page: PageByNameOf) -> Response:
    """The reports at a dataset, by name: all for its owner, admins and auditors, otherwise the caller's own."""
    entered = caller.enter(name)
    found = report_documents.list_reports(caller.services, entered, page.after_name, page.limit + 1)
    return list_response("reports", found, page, "report")


@router.put(
    "/{report}",
    operation_id="defineReport",
    summary="Define or change a report",
    status_code=201,
    responses=describe_responses(
        {
            200: (schemas.ListedReport, "The report as it is from its next run on, or the same one."),
            201: (schemas.ListedReport, "The new report, or a withdrawn one that is defined again."),
        },
        *(403, 404, 412),
    ),
)
def define(  # noqa: PLR0913, PLR0917 - the headers of a conditional request
    name: str,
    report: str,
    caller: CallerOf,
    body: JsonBody[schemas.ReportRequest],
    if_match: IfMatchHeaders = None,
    if_none_match: IfNoneMatchHeaders = None,
) -> Response:
    """Define or change a report: a batch for the next dataset that succeeds this one. Nothing is released now.

    Its runs are made in the name of who defined it last, and debited from this principal's allowance.
    """
    entered = caller.enter(name)
    defining.require_definer(entered)
    request, sent, wanted = body.validate(), body.value(), read_precondition(if_match, if_none_match)
    definition = _definition_of(request, canonical_text({"batch": sent["batch"], "figures": sent["figures"]}))
    terms = Terms(definition, request.epsilon_per_run, request.epsilon_total)
    document, is_new = defining.define_report(caller.services, entered, report, terms, wanted)
    if is_new:
        return created_response(document, f"/v1/datasets/{entered.dataset.name}/reports/{document['report']}")
    return json_response(document)


@router.get(
    "/{report}",
    operation_id="getReport",
    summary="Get a report",
    responses=describe_responses({200: (schemas.Report, "The report.")}, 404),
)
def one_report(name: str, report: str, caller: CallerOf) -> Response:
    """A report with its batch, its figures and its budget. Its `ETag` changes with each of them."""
    return tagged_response(report_documents.describe_report(caller.services, caller.enter(name), report))


@router.delete(
    "/{report}",
    operation_id="withdrawReport",
    summary="Withdraw a report",
    status_code=204,
    responses=describe_responses({204: (None, "Withdrawn.")}, 403, 404, PreconditionFailedError),
)
def withdraw(name: str, report: str, caller: CallerOf, if_match: IfMatchHeaders = None) -> Response:
    """Withdraw a report: it has no further runs. What it has published stays."""
    entered = caller.enter(name)
    defining.require_definer(entered)
    defining.withdraw_report(caller.services, entered, report, read_precondition(if_match))
    return Response(status_code=204)


@router.post(
    "/{report}/plan",
    operation_id="planReport",
    summary="Plan a report",
    responses=describe_responses({200: (schemas.ReportPlan, "The plan.")}, 404),
)
def plan(name: str, report: str, caller: CallerOf) -> Response:
    """What a run would cost and promise on a dataset with the public facts of this one: free, and without any data."""
    entered = caller.enter(name)
    return Response(
        report_documents.plan_report(caller.services, entered, report, read_definition), media_type=MEDIA_TYPE
    )


@router.get(
    "/{report}/runs",
    operation_id="listReportRuns",
    summary="List the runs of a report",
    responses=describe_responses({200: (schemas.ReportRuns, "A page of runs.")}, 404),
)
def runs(name: str, report: str, caller: CallerOf, page: PageOf) -> Response:
    """The runs of a report on all datasets of its series: at most one on each."""
    entered = caller.enter(name)
    found = report_documents.list_runs(
        caller.services, entered, report, page.after_number, page.limit + 1, newest=page.newest
    )
    return list_response("runs", found, page, "number")


@router.post(
    "/{report}/runs",
    operation_id="retryReportRun",
    summary="Queue a report's last run again",
    responses=describe_responses(
        {200: (schemas.ReportRun, "The run, which is pending again if it was refused.")}, 403, 404
    ),
)
def retry(name: str, report: str, caller: CallerOf) -> Response:
    """Try the run on this dataset again, if it was refused or could not be published. What is done stays done."""
    return json_response(defining.retry_run(caller.services, caller.enter(name), report))
