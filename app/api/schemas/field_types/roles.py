"""The schema of a role in requests and responses."""

from typing import Annotated

from pydantic import Field, GetPydanticSchema
from pydantic_core import core_schema
from typing_extensions import TypeAliasType

from app.roles import Role

_LITERAL = core_schema.literal_schema([role.value for role in Role])
RoleName = TypeAliasType(
    "RoleName",
    Annotated[
        str,
        GetPydanticSchema(lambda *_: core_schema.no_info_after_validator_function(Role, _LITERAL)),
        Field(description="What a principal may do."),
    ],
)
