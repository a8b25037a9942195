"""ASGI middleware around authentication and the routes: it answers for what they did not expect."""

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems


class ErrorBarrier:
    """Answers an unexpected exception with 500. Neither the response nor the log contains the exception's text."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and catch every exception."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            return  # the client has disconnected, and nothing was changed
        except Exception as error:  # noqa: BLE001 - the barrier is for all of them
            response = problems.render_internal_error(error)
            if not started:
                await response(scope, receive, send)
