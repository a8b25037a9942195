"""Pure ASGI middleware that every request passes: request log, limits, error barrier, authentication."""
