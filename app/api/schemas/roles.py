"""A role as requests and answers have it."""

from typing import Annotated

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from app.roles import Role

# A literal, so that the document spells the roles out where they are used and has no schema of its own for them.
_LITERAL = core_schema.literal_schema([role.value for role in Role])
RoleName = Annotated[str, GetPydanticSchema(lambda *_: core_schema.no_info_after_validator_function(Role, _LITERAL))]
