"""The OpenAPI document: description, examples, and what FastAPI cannot see of a route."""
