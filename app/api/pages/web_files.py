"""Static files in memory, at addresses that browsers may keep for good."""

import mimetypes
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from app.api.pages.static_content import StaticContent

_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_VERSION_DIGITS: Final = 16


class WebFiles:
    """Serves files by their paths, such as `ui/dom.js`, and below a folder that is called like their version.

    The version is a hash of all files. Files below it never change, so browsers need not ask for them again. Another
    version (of a process that is not yet, or no longer, replaced) shows the files of this one, which are revalidated.

    Args:
        contents: the files by their paths.
    """

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._files = {
            path: StaticContent(content, mimetypes.guess_type(path)[0] or "application/octet-stream")
            for path, content in contents.items()
        }
        hashed = sha256()
        for path, content in sorted(contents.items()):
            hashed.update(f"{path} {len(content)}\n".encode() + content)
        self.version = f"v-{hashed.hexdigest()[:_VERSION_DIGITS]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the file, or 304 if the caller has it.

        Raises:
            HTTPException: there is no such file, or the method is neither GET nor HEAD.
        """
        if scope["method"] not in {"GET", "HEAD"}:
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        path = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/")
        version, _, rest = path.partition("/")
        found = self._files.get(rest if version.startswith("v-") else path)
        if found is None:
            raise HTTPException(404)
        response = found.respond(Headers(scope=scope))
        if version == self.version:
            response.headers["Cache-Control"] = _FOR_GOOD
        await response(scope, receive, send)
