"""The schema of a role in requests and responses."""

from typing import Annotated

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

from app.roles import Role

# A literal, so that the OpenAPI document lists the roles where they are used, without a schema of their own.
_LITERAL = core_schema.literal_schema([role.value for role in Role])
RoleName = Annotated[str, GetPydanticSchema(lambda *_: core_schema.no_info_after_validator_function(Role, _LITERAL))]
