"""`create_app()` and the lifespan; nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from app.api import documentation, problems
from app.api.middleware import FaultBarrier, KeyGate
from app.api.routers import budgets, datasets, derived, operations, principals, releases
from app.config import Settings
from app.services import startup
from app.services.context import Services


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service as an ASGI application; `settings` are read from the environment where none are given."""
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services: Services = await run_in_threadpool(startup.open_services, chosen)
        app.state.services = services
        try:
            yield
        finally:
            await run_in_threadpool(startup.close_services, services)

    app = FastAPI(
        title="Snapledger",
        version=version("snapledger"),
        description=documentation.DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        middleware=[Middleware(FaultBarrier), Middleware(KeyGate)],
    )
    problems.install(app)
    documentation.install(app)
    for router in (
        releases.router,
        derived.router,
        budgets.router,
        datasets.router,
        principals.router,
        operations.router,
    ):
        app.include_router(router)
    return app
