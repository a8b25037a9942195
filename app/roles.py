"""The roles of principals; `app.services.access` says what each may do."""

from enum import StrEnum


class Role(StrEnum):
    """What a principal may do."""

    ADMIN = "admin"
    OWNER = "owner"
    AUDITOR = "auditor"
    ANALYST = "analyst"
    VIEWER = "viewer"


SEES_EVERY_DATASET = (Role.ADMIN, Role.AUDITOR)
"""The roles that see every dataset, and so all figures."""

WITHOUT_ALLOWANCE = (Role.AUDITOR, Role.VIEWER)
"""The roles that have no allowances."""
