"""The HTTP layer: routers, schemas, authentication and problems. It has no SQL and no arithmetic."""
