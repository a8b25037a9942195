"""All errors as `application/problem+json` (RFC 9457), from one table. No problem repeats a value that was sent."""

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
from app.ledger.units import epsilon_text, format_rounded_epsilon
from app.logs import request_id

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = "1"
_CHALLENGE = 'Bearer realm="snapledger"'

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


def _count_in_words(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _count_problems(error: errors.InvalidRequestError) -> str:
    return f"{_count_in_words(len(error.problems), 'problem')}: `errors` says where and what."


_BUDGETS = {
    "dataset": "the dataset's budget",
    "allowance": "your allowance",
    "report": "the report's budget",
}


def _budget_detail(error: errors.BudgetExhaustedError) -> str:
    budget = _BUDGETS[error.scope]
    left = format_rounded_epsilon(error.remaining_nano, up=False)
    advice = "ask for less, or ask the dataset's owner for a higher limit"
    if error.scope == "report":
        advice = "define the report again with a higher limit, or ask for less"
    if error.renews_at is not None:
        advice = f"ask for less, or wait until it is renewed at {error.renews_at}"
    return f"This costs ε = {format_rounded_epsilon(error.requested_nano)}, and {left} of {budget} is left: {advice}."


def _not_found_detail(error: errors.NotFoundError) -> str:
    """Return which thing was not found, as a sentence."""
    told = str(error) or "it does not exist, or your key may not see it: check the name in the path"
    return f"{told[0].upper()}{told[1:]}."


def _retry_after_seconds(problem: "Problem", error: object) -> str | None:
    """Return the value of Retry-After in seconds; None if waiting does not help."""
    if isinstance(error, errors.RateLimitedError):
        return str(error.seconds)
    if isinstance(error, errors.BudgetExhaustedError) and error.renews_at is not None:
        return str(seconds_until(error.renews_at))
    return RETRY_AFTER_SECONDS if problem.status in {408, 503} else None


PROBLEMS: dict[type[errors.SnapledgerError], Problem] = {
    errors.MalformedJsonError: Problem(400, "malformed-json", "The body is not valid JSON", str),
    errors.KeyRequiredError: Problem(
        400,
        "key-required",
        "An Idempotency-Key is required",
        "A fresh draw (`reuse: false`) needs the header Idempotency-Key, so that a retry is never charged twice.",
    ),
    errors.UnauthenticatedError: Problem(
        401,
        "unauthenticated",
        "No valid key",
        lambda error: (
            str(error)
            or "Send the header Authorization: Bearer <key> with a key or token that has not expired or been replaced."
        ),
    ),
    errors.ForbiddenError: Problem(403, "forbidden", "Not allowed", str),
    errors.NotFoundError: Problem(404, "not-found", "Not found", _not_found_detail),
    errors.NotAcceptableError: Problem(
        406,
        "not-acceptable",
        "No acceptable form",
        "A figure has the forms application/json, text/csv, application/vnd.apache.arrow.stream and "
        "application/vnd.apache.parquet: name one in the Accept header, or by the suffix .json, .csv, .arrow or "
        ".parquet.",
    ),
    errors.BodyTooSlowError: Problem(
        408, "too-slow", "The body arrived too slowly", "Nothing was done. Send it again over a faster connection."
    ),
    errors.BudgetExhaustedError: Problem(409, "budget-exhausted", "Budget exhausted", _budget_detail, _budget_members),
    errors.StorageExhaustedError: Problem(
        409,
        "storage-exhausted",
        "The storage for answers is full",
        lambda error: (
            f"The stored answers of this {error.scope} take {error.stored_bytes:,} bytes; the limit is "
            f"{error.limit_bytes:,}. You can still read earlier releases and repeat earlier requests; the operator can "
            f"raise SNAPLEDGER_MAX_STORED_BYTES_PER_{error.scope.upper()}."
        ),
        lambda error: {"scope": error.scope, "stored_bytes": error.stored_bytes, "limit_bytes": error.limit_bytes},
    ),
    errors.NameTakenError: Problem(
        409, "name-taken", "The name is taken", "Names are never used twice: choose another one."
    ),
    errors.DatasetClosedError: Problem(
        409, "closed", "The dataset is closed", "Its data was deleted. Its ledger and releases can still be read."
    ),
    errors.DatasetStaleError: Problem(
        409,
        "stale",
        "The dataset is stale",
        "Its live table has changed since it was registered. Its owner can revalidate the dataset, or delete it.",
    ),
    errors.RequestOpenError: Problem(
        409,
        "request-open",
        "You have an open request",
        "Your earlier request for budget on this dataset has no answer yet: wait for it, or speak to the owner.",
    ),
    errors.RequestAnsweredError: Problem(
        409,
        "request-answered",
        "The request is answered",
        "Somebody has answered this request already: read it again to see how.",
    ),
    errors.NotReleasedError: Problem(
        409,
        "not-released",
        "This is not released yet",
        "A figure shows what was released before, and costs nothing: send the same body to `…/derived` first.",
    ),
    errors.AllowanceRevokedError: Problem(
        409,
        "revoked",
        "The principal has no access",
        "Its allowance was revoked, or it is disabled: decline the request, or grant a new allowance first.",
    ),
    errors.LastAdminError: Problem(
        409, "last-admin", "The last admin cannot be disabled", "Create another admin first."
    ),
    errors.PreconditionFailedError: Problem(
        412,
        "precondition-failed",
        "Somebody has changed it",
        "It is no longer what your header If-Match names, so nothing was done: read it again, then repeat the change "
        "with the new ETag.",
    ),
    errors.AlreadyExistsError: Problem(
        412,
        "already-exists",
        "It exists already",
        "Your header If-None-Match asks for a new one, so nothing was done: leave it out to change what exists, or "
        "choose another name.",
    ),
    errors.BodyTooLargeError: Problem(
        413, "too-large", "The body is too large", lambda error: f"The limit is {error.limit_bytes:,} bytes."
    ),
    errors.UnsupportedMediaError: Problem(415, "unsupported-media-type", "Unsupported media type", str),
    errors.InvalidRequestError: Problem(
        422,
        "invalid-request",
        "The request is not valid",
        _count_problems,
        lambda error: {"errors": [{"where": where, "what": what} for where, what in error.problems]},
    ),
    errors.AccuracyTrivialError: Problem(
        422,
        "accuracy-trivial",
        "This accuracy is already guaranteed",
        "The statistic's public bounds alone guarantee this radius: ask for a smaller one.",
    ),
    errors.AccuracyUnattainableError: Problem(
        422,
        "accuracy-unattainable",
        "This accuracy costs too much",
        lambda error: (
            f"It would cost ε = {format_rounded_epsilon(error.epsilon_nano)}, and one release may cost at most "
            f"{epsilon_text(error.limit_nano)}: ask for a larger radius."
        ),
        lambda error: {"epsilon": epsilon_text(error.epsilon_nano)},
    ),
    errors.EpsilonTooLargeError: Problem(
        422,
        "epsilon-too-large",
        "The ε is too large",
        lambda error: f"One release may cost at most ε = {epsilon_text(error.limit_nano)}.",
        lambda error: {"limit": epsilon_text(error.limit_nano)},
    ),
    errors.KeyReusedError: Problem(
        422,
        "key-reused",
        "The Idempotency-Key belongs to another request",
        "Use a new key for a new request. A key repeats only the request that it was first sent with.",
    ),
    errors.RateLimitedError: Problem(
        429,
        "rate-limited",
        "Too many requests",
        lambda error: f"Wait {_count_in_words(error.seconds, 'second')} (the header Retry-After), then send it again.",
    ),
    errors.OverloadedError: Problem(
        503, "overloaded", "Too many requests at once", "Nothing was done. Retry in a moment, with the same key."
    ),
    errors.ProviderAwayError: Problem(
        503,
        "unavailable",
        "Service unavailable",
        "The identity provider does not answer: retry, or use a key instead of a token.",
    ),
    errors.SealBrokenError: Problem(
        503,
        "seal-broken",
        "A stored record does not match its seal",
        "Nothing was charged. Something outside the service changed what is stored here: tell the operator, who can "
        "run `snapledger ledger verify`.",
    ),
    errors.UnavailableError: Problem(
        503,
        "unavailable",
        "Service unavailable",
        "The database or a data engine is busy or does not answer: retry with the same Idempotency-Key, which is never "
        "charged twice.",
    ),
}

_HTTP_PROBLEMS = {
    404: ("not-found", "Not found", "This path does not exist: see /docs for those that do."),
    405: ("method-not-allowed", "Method not allowed", "The header Allow names the methods of this path: see /docs."),
}
_METHODS = ("DELETE", "GET", "HEAD", "POST", "PUT")
_SEE_DOCS = "See /docs for what each path takes."
BAD_REQUEST = Problem(400, "bad-request", "Malformed HTTP request", str)
_METHOD_NOT_ALLOWED = Problem(405, *_HTTP_PROBLEMS[405])
_INTERNAL = Problem(
    500,
    "internal",
    "Internal error",
    "If an answer was stored, it was charged: send the request again with the same Idempotency-Key to get it. The "
    "operator finds the cause in the log.",
)

OF_HTTP = (BAD_REQUEST, _METHOD_NOT_ALLOWED, _INTERNAL)
"""The problems that are no domain errors."""

for _problem in (*PROBLEMS.values(), _INTERNAL):
    metrics.REFUSALS.labels(_problem.slug)  # start at 0, so that Prometheus sees the first increase


def _challenge(error: object) -> str:
    """Return the value of WWW-Authenticate (RFC 6750, 3): without an error code if no credential was sent."""
    return _CHALLENGE if isinstance(error, errors.NoCredentialError) else f'{_CHALLENGE}, error="invalid_token"'


def _describe_problem(problem: Problem, error: object) -> dict[str, Any]:
    detail = problem.detail if isinstance(problem.detail, str) else problem.detail(error)
    return {"type": f"/problems/{problem.slug}", "title": problem.title, "status": problem.status, "detail": detail}


def _encode_problem(problem: Problem, error: object) -> bytes:
    facts = _describe_problem(problem, error)
    if identity := request_id.get():
        facts["request_id"] = identity
    return encode_json(facts | problem.members(error))


def describe_error(error: errors.SnapledgerError) -> dict[str, Any]:
    """Return the problem of an error that no request waits for, as JSON."""
    problem = find_problem(error)
    return _describe_problem(problem, error) | problem.members(error)


def find_problem(error: errors.SnapledgerError) -> Problem:
    """Return the table's entry of an error's class, or of the nearest base class."""
    return next(PROBLEMS[kind] for kind in type(error).__mro__ if kind in PROBLEMS)


def render_problem(problem: Problem, error: object) -> Response:
    """Return the response for a problem; `error` supplies its further members and headers."""
    headers = {}
    if problem.status == 401:
        headers["WWW-Authenticate"] = _challenge(error)
    if (seconds := _retry_after_seconds(problem, error)) is not None:
        headers["Retry-After"] = seconds
    metrics.REFUSALS.labels(problem.slug).inc()
    return Response(_encode_problem(problem, error), problem.status, headers, MEDIA_TYPE)


def render_error(error: errors.SnapledgerError) -> Response:
    """Return the response for a domain error, from the table's entry of its class or of the nearest base class."""
    if isinstance(error, errors.SealBrokenError):
        log.error("a record does not match its seal: snapledger ledger verify says which")
    elif isinstance(error, errors.UnavailableError):
        log.warning("unavailable: %s", type(error.__cause__).__name__)
    return render_problem(find_problem(error), error)


def _on_domain_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, errors.SnapledgerError)  # noqa: S101 - registered for this class alone
    return render_error(error)


def _list_allowed_methods(request: Request) -> str:
    """Return all methods of the request's path, for the header Allow; Starlette names only those of the first route."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    return ", ".join(
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    )


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    known = _HTTP_PROBLEMS.get(error.status_code, (BAD_REQUEST.slug, BAD_REQUEST.title, _SEE_DOCS))
    response = render_problem(Problem(error.status_code, *known), error)
    response.headers.update(error.headers or {})
    if allowed := _list_allowed_methods(request):
        response.headers["Allow"] = allowed
    return response


def encode_bad_request(detail: str) -> bytes:
    """Return the body of the response to a request that is not valid HTTP."""
    return _encode_problem(BAD_REQUEST, detail)


def render_internal_error(error: Exception) -> Response:
    """Return the 500 response. The log gets the error's class and place, but not its text, which could hold a value."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    place = f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}" if traceback else "unknown"
    log.error("internal error: %s at %s", type(error).__name__, place)
    return render_problem(_INTERNAL, error)


def install(app: FastAPI) -> None:
    """Answer every domain and HTTP error of this application as a problem; `ErrorBarrier` answers all others."""
    app.add_exception_handler(errors.SnapledgerError, _on_domain_error)
    app.add_exception_handler(HTTPException, _on_http_error)
