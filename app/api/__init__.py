"""HTTP: routers, schemas, who is calling, problems. No SQL and no arithmetic."""
