"""Creates the ASGI application: `create_app()` and the lifespan."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

from anyio import to_thread
from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from app import logs, metrics, traces
from app.api import problems
from app.api.head_routes import add_head_routes
from app.api.middleware.authentication import AuthenticationGate
from app.api.middleware.concurrency_limit import ConcurrencyLimit
from app.api.middleware.error_barrier import ErrorBarrier
from app.api.middleware.rate_limit import RateLimit
from app.api.middleware.request_log import RequestLog
from app.api.openapi import document, problem_pages
from app.api.openapi.metadata import METADATA
from app.api.pages import boards, dashboard, guide
from app.api.pages import figures as figure_pages
from app.api.pages import sign_on as sign_on_pages
from app.api.routers import (
    audit,
    batches,
    budget_requests,
    budgets,
    datasets,
    derived,
    drafts,
    figure_collections,
    figures,
    operations,
    plans,
    principals,
    releases,
    reports,
    sign_on,
)
from app.api.server.startup_retry import open_services_with_retry
from app.api.server.worker_pool import WorkerPool
from app.api.uploads import OpenUploads
from app.config import Settings
from app.db.connection_limits import AT_ONCE, REQUEST_THREADS
from app.services.identity import tokens
from app.services.identity.sign_on import make_sign_on
from app.services.identity.tokens import TokenVerifier
from app.services.operations import startup
from app.services.operations.background_verification import BackgroundVerification
from app.services.operations.figure_mirror import FigureMirror
from app.services.operations.report_worker import ReportWorker

_READ_HEADERS = [
    *("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Traceparent", "X-Request-Id"),
]
_TOLD_HEADERS = [
    *("ETag", "Idempotency-Replayed", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After"),
    *("WWW-Authenticate", "X-Request-Id"),
]
_OBJECTS_BETWEEN_COLLECTIONS = 10_000
"""Requests leave few cycles behind. Looking for them after every 700 new objects took 3 % of a release's time."""

_ROUTERS = (  # before the pages: routes are compared in this order
    plans.router,
    releases.router,
    derived.router,
    batches.router,
    budgets.router,
    budget_requests.router,
    figures.router,
    reports.router,
    figure_pages.router,
    figure_collections.router,
    boards.router,
    datasets.router,
    drafts.router,
    principals.router,
    audit.router,
    sign_on.router,
    operations.router,
)


def _around(settings: Settings, verifier: TokenVerifier | None) -> list[Middleware]:
    """Return the middleware that every request passes, from the outermost to the innermost."""
    rate = RateLimit(settings.rate_limit, settings.rate_limit_storage.get_secret_value())
    around = [Middleware(RequestLog)]
    if settings.cors_origins:
        around.append(
            Middleware(
                CORSMiddleware,
                allow_origins=settings.cors_origins,
                allow_methods=["DELETE", "GET", "HEAD", "POST", "PUT"],
                allow_headers=_READ_HEADERS,
                expose_headers=_TOLD_HEADERS,
                allow_credentials=False,
            )
        )
    # Inside the CORS middleware, so that a page of another origin can read the text and Retry-After of an error.
    around += [Middleware(ConcurrencyLimit, settings.max_concurrent_requests), Middleware(ErrorBarrier)]
    return [*around, Middleware(AuthenticationGate, rate, verifier)]


@asynccontextmanager
async def _run_services(settings: Settings, app: FastAPI) -> AsyncIterator[None]:
    """Open the services and start the threads that work beside the requests; end and close them after the yield."""
    to_thread.current_default_thread_limiter().total_tokens = REQUEST_THREADS
    traces.begin()
    services = await open_services_with_retry(settings)
    app.state.services = services
    app.state.answer = WorkerPool(services.database, REQUEST_THREADS, AT_ONCE[services.database.dialect]).run
    app.state.uploads = OpenUploads(settings.max_open_uploads)
    working = (
        BackgroundVerification(services),
        FigureMirror(services),
        ReportWorker(services, reports.REPORT_INTERFACE),
    )
    for each in working:
        each.begin()
    # Objects from the start live as long as the process, so the garbage collector need not check them again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        yield
    finally:
        for each in working:
            each.end()
        await run_in_threadpool(startup.close_services, services)
        await run_in_threadpool(traces.end)
        metrics.forget_process()


def create_app(settings: Settings | None = None) -> FastAPI:
    """Create the ASGI application. If `settings` is None, the settings are read from the environment."""
    logs.configure_structlog()
    chosen = settings or Settings()
    verifier = tokens.make_token_verifier(chosen)
    app = FastAPI(
        title="Snapledger",
        version=version("snapledger"),
        openapi_url=None,  # `document.install` serves it
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=partial(_run_services, chosen),
        middleware=_around(chosen, verifier),
        **METADATA,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # `app.traces`, `metrics` and `logs` do this
    )
    problems.install(app)
    for router in _ROUTERS:
        app.router.routes.extend(router.routes)  # an included router is compared twice
    document.install(app)
    dashboard.install(app)
    problem_pages.install(app)
    sign_on_pages.install(app, chosen, make_sign_on(chosen, verifier))
    guide.install(app, chosen.guide_directory)
    add_head_routes(app)
    return app
