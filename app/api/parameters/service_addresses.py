"""The addresses that a response names: the service's own, and the origins whose pages may show it in a frame."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Request

from app.services.context import Services


async def _read_base_path(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


async def _read_base_address(request: Request) -> str:
    """Return the configured address and the path; the header Host is the caller's, so nothing follows from it."""
    services: Services = request.app.state.services
    return (services.settings.public_url or "") + await _read_base_path(request)


async def _read_frame_ancestors(request: Request) -> Sequence[str]:
    services: Services = request.app.state.services
    return services.settings.figures_frame_ancestors


BasePathOf = Annotated[str, Depends(_read_base_path)]
"""The path of the service on its host, empty at the root."""

FrameAncestorsOf = Annotated[Sequence[str], Depends(_read_frame_ancestors)]
"""The origins whose pages may show figures in a frame."""

BaseAddressOf = Annotated[str, Depends(_read_base_address)]
"""The service's configured address with its path, or the path alone, without a slash at its end."""
