"""The roles of principals; `app.services.access` says what each may do."""

from enum import StrEnum


class Role(StrEnum):
    """What a principal may do."""

    ADMIN = "admin"
    OWNER = "owner"
    AUDITOR = "auditor"
    ANALYST = "analyst"
    VIEWER = "viewer"


READERS = (Role.AUDITOR, Role.VIEWER)
"""The roles that have no allowances."""
