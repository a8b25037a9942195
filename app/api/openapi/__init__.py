"""The OpenAPI document: its description, its examples, and what FastAPI cannot derive from a route."""
