"""The version of the service and of the client, in this one place: both packages are built with it."""

__version__ = "1.0.0"
