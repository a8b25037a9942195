"""The FastAPI application, with the layers that this service needs."""

from fastapi import FastAPI
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.types import ASGIApp


class Application(FastAPI):
    """FastAPI without three of its layers, which each request would pass.

    `ErrorBarrier` answers unexpected errors, `app.traces` records spans, and routes bound their bodies themselves.
    """

    def build_middleware_stack(self) -> ASGIApp:
        """Return the middleware of the application around its routes, the outermost first."""
        app: ASGIApp = ExceptionMiddleware(AsyncExitStackMiddleware(self.router), handlers=self.exception_handlers)
        for middleware, args, options in reversed(self.user_middleware):
            app = middleware(app, *args, **options)
        return app
