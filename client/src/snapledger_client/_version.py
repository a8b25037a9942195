"""The version of both packages, the service and the client."""

__version__ = "1.0.0"
