"""What every request passes before its route, as pure ASGI: request log, limits, error barrier, authentication."""
