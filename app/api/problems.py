"""Every refusal as `application/problem+json` (RFC 9457), from one table. No problem repeats what was sent."""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Mount

from app import errors, metrics
from app.db.clock import seconds_until
from app.json_text import encode_json
from app.ledger.units import epsilon_text

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = "1"

log = logging.getLogger("snapledger.api")


class Problem(NamedTuple):
    """One row of the table: the status, the slug below `/problems/`, the title, and what to do about it."""

    status: int
    slug: str
    title: str
    detail: Callable[[Any], str] | str
    members: Callable[[Any], dict[str, Any]] = lambda _: {}


def _budget_members(error: errors.BudgetExhaustedError) -> dict[str, Any]:
    return {
        "scope": error.scope,
        "requested": epsilon_text(error.requested_nano),
        "remaining": epsilon_text(error.remaining_nano),
        "limit": epsilon_text(error.limit_nano),
        **({} if error.renews_at is None else {"renews_at": error.renews_at}),
    }


def _retry_after_seconds(problem: "Problem", error: object) -> str | None:
    """For how many seconds to wait, where waiting helps."""
    if isinstance(error, errors.RateLimitedError):
        return str(error.seconds)
    if isinstance(error, errors.BudgetExhaustedError) and error.renews_at is not None:
        return str(seconds_until(error.renews_at))
    return RETRY_AFTER_SECONDS if problem.status in {408, 503} else None


PROBLEMS: dict[type[errors.SnapledgerError], Problem] = {
    errors.MalformedJsonError: Problem(400, "malformed-json", "The body is not JSON", str),
    errors.KeyRequiredError: Problem(
        400,
        "key-required",
        "An Idempotency-Key is required",
        "A fresh draw (reuse: false) needs the header Idempotency-Key, so that a retry is never charged twice.",
    ),
    errors.UnauthenticatedError: Problem(
        401,
        "unauthenticated",
        "No valid key",
        lambda error: (
            str(error) or "Send the header Authorization: Bearer <key> with a key or a token that is in force."
        ),
    ),
    errors.ForbiddenError: Problem(403, "forbidden", "Not allowed", str),
    errors.NotFoundError: Problem(
        404, "not-found", "Not found", "There is no such thing here, or your key does not show it."
    ),
    errors.BodyTooSlowError: Problem(
        408, "too-slow", "The body came too slowly", "Nothing was done: send it again over a faster connection."
    ),
    errors.BudgetExhaustedError: Problem(
        409,
        "budget-exhausted",
        "The budget cannot bear this",
        lambda error: f"The {error.scope} has less left than this costs: ask for less, or for a higher limit.",
        _budget_members,
    ),
    errors.StorageExhaustedError: Problem(
        409,
        "storage-exhausted",
        "No room for another answer",
        lambda error: (
            f"The answers that are stored of this {error.scope} take as many bytes as they may. Earlier releases and "
            "answers to earlier keys can still be read; without an Idempotency-Key an earlier release answers and "
            "nothing is stored. The operator can raise the limit."
        ),
        lambda error: {"scope": error.scope, "stored_bytes": error.stored_bytes, "limit_bytes": error.limit_bytes},
    ),
    errors.NameTakenError: Problem(409, "name-taken", "The name is taken", "A name is given once; choose another."),
    errors.DatasetClosedError: Problem(
        409, "closed", "The dataset is closed", "Its data is deleted; its ledger and releases can still be read."
    ),
    errors.DatasetStaleError: Problem(
        409,
        "stale",
        "The dataset is stale",
        "Its live table is not the one that was registered; its owner may have it validated again, or delete it.",
    ),
    errors.LastAdminError: Problem(
        409, "last-admin", "The last admin stays", "Create another admin first, then disable this one."
    ),
    errors.BodyTooLargeError: Problem(
        413, "too-large", "The body is too large", lambda error: f"The limit is {error.limit_bytes} bytes."
    ),
    errors.UnsupportedMediaError: Problem(415, "unsupported-media-type", "This form of body is not read here", str),
    errors.InvalidRequestError: Problem(
        422,
        "invalid-request",
        "The request is not valid",
        "Each of `errors` says where and what.",
        lambda error: {"errors": [{"where": where, "what": what} for where, what in error.problems]},
    ),
    errors.AccuracyTrivialError: Problem(
        422,
        "accuracy-trivial",
        "The accuracy is no question",
        "The statistic's public range is within this radius already: ask for a smaller one.",
    ),
    errors.AccuracyUnattainableError: Problem(
        422,
        "accuracy-unattainable",
        "The accuracy costs too much",
        lambda error: f"It would take more than the {epsilon_text(error.limit_nano)} that one release may cost.",
        lambda error: {"epsilon": epsilon_text(error.epsilon_nano)},
    ),
    errors.EpsilonTooLargeError: Problem(
        422,
        "epsilon-too-large",
        "The ε is too large",
        lambda error: f"One release may cost {epsilon_text(error.limit_nano)} at most.",
        lambda error: {"limit": epsilon_text(error.limit_nano)},
    ),
    errors.KeyReusedError: Problem(
        422,
        "key-reused",
        "The Idempotency-Key belongs to another request",
        "Use a new key for a new request; the old key answers its own request only.",
    ),
    errors.RateLimitedError: Problem(
        429,
        "rate-limited",
        "Too many calls",
        "Wait as many seconds as Retry-After says; plans and releases that are known need no second call.",
    ),
    errors.OverloadedError: Problem(
        503, "overloaded", "Too many calls at once", "Nothing was done: retry after a moment, with the same key."
    ),
    errors.ProviderAwayError: Problem(
        503, "unavailable", "Busy or away", "The provider of tokens did not answer: retry, or call with a key."
    ),
    errors.SealBrokenError: Problem(
        503,
        "seal-broken",
        "The record does not match its seal",
        "Nothing was charged. What is stored here was changed outside the service: tell the operator.",
    ),
    errors.UnavailableError: Problem(
        503,
        "unavailable",
        "Busy or away",
        "The database or a data engine did not answer: retry with the same key; it is never charged twice.",
    ),
}

_HTTP_TITLES = {404: ("not-found", "Not found"), 405: ("method-not-allowed", "Method not allowed")}
_METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")
_UNREADABLE = ("bad-request", "The request cannot be read")
_INTERNAL = Problem(500, "internal", "A fault of ours", "Nothing was charged unless an answer is stored; see the log.")

for _problem in (*PROBLEMS.values(), _INTERNAL):
    metrics.REFUSALS.labels(_problem.slug)  # from 0 on, or Prometheus would see no rise when the first one comes


def _encode_problem(problem: Problem, error: object) -> bytes:
    detail = problem.detail if isinstance(problem.detail, str) else problem.detail(error)
    facts = {"type": f"/problems/{problem.slug}", "title": problem.title, "status": problem.status, "detail": detail}
    return encode_json(facts | problem.members(error))


def render_problem(problem: Problem, error: object) -> Response:
    """The response of one problem."""
    headers = {}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if (seconds := _retry_after_seconds(problem, error)) is not None:
        headers["Retry-After"] = seconds
    metrics.REFUSALS.labels(problem.slug).inc()
    return Response(_encode_problem(problem, error), problem.status, headers, MEDIA_TYPE)


def render_error(error: errors.SnapledgerError) -> Response:
    """The response of one of the domain's errors, by the nearest class of the table."""
    if isinstance(error, errors.SealBrokenError):
        log.error("a record does not match its seal: snapledger ledger verify says which")
    elif isinstance(error, errors.UnavailableError):
        log.warning("unavailable: %s", type(error.__cause__).__name__)
    return next(render_problem(PROBLEMS[kind], error) for kind in type(error).__mro__ if kind in PROBLEMS)


def _on_domain_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, errors.SnapledgerError)  # noqa: S101 - registered for this class alone
    return render_error(error)


def _allowed_methods(request: Request) -> str:
    """Every method of a path of ours; Starlette names those of the first route only."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    return ", ".join(
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    )


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    slug, title = _HTTP_TITLES.get(error.status_code, _UNREADABLE)
    response = render_problem(
        Problem(error.status_code, slug, title, "See the description of the interface at /docs."), error
    )
    response.headers.update(error.headers or {})
    if allowed := _allowed_methods(request):
        response.headers["Allow"] = allowed
    return response


def encode_bad_request(detail: str) -> bytes:
    """The body of the answer to what is no HTTP."""
    return _encode_problem(Problem(400, *_UNREADABLE, detail), None)


def render_internal_error(error: Exception) -> Response:
    """The answer to a defect of ours; the log gets its class and place, since its text could hold a value."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    place = f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}" if traceback else "unknown"
    log.error("fault: %s at %s", type(error).__name__, place)
    return render_problem(_INTERNAL, error)


def install(app: FastAPI) -> None:
    """Answer every error of this application as a problem; defects are the outermost middleware's."""
    app.add_exception_handler(errors.SnapledgerError, _on_domain_error)
    app.add_exception_handler(HTTPException, _on_http_error)
