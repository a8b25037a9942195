"""HTTP/1.1 as uvicorn speaks it over httptools, with the one limit that both lack: on the head of a request."""

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.api import problems

MAX_HEAD_BYTES: Final = 2**16


class Protocol(HttpToolsProtocol):
    """Hangs up on a head, or on trailers, that go on for ever: they would fill the memory before a key is asked for."""

    _pending_bytes = 0  # received since a head, a piece of a body or a message was last complete

    def data_received(self, data: bytes) -> None:
        """Take in what a connection sent."""
        self._pending_bytes += len(data)
        super().data_received(data)
        if self._pending_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, as a problem too, and hang up."""
        body = problems.unreadable(msg)
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: {problems.MEDIA_TYPE}\r\ncontent-length: {len(body)}"
        self.transport.write(head.encode() + b"\r\nconnection: close\r\n\r\n" + body)
        self.transport.close()

    def on_headers_complete(self) -> None:
        """Begin with a body."""
        self._pending_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Go on with a body."""
        self._pending_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a message."""
        self._pending_bytes = 0
        super().on_message_complete()
