"""The base of all request bodies, and the errors of validation, which say where and what but never repeat the input."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from app.api.schemas import allowed_members
from app.errors import InvalidRequestError
from app.spelling import suggest_name

_QUOTED = re.compile("'([^']*)'")
_COLUMN = re.compile(r"columns\.(\d+)")
MAX_PROBLEMS = 10  # a response must not grow with the request
_PIECE = 16
"""The number of members of a large object that are validated together; validation stops after a piece with errors."""

Model = TypeVar("Model", bound=BaseModel)


class RequestModel(BaseModel):
    """A body, or a part of one: unknown members are refused, since a misspelt option must not be ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _limit_unknown_members(cls, value: Any) -> Any:  # noqa: ANN401 - JSON is any value
        """Drop unknown members except the first few: one is enough to refuse the object, and each costs time."""
        known = _member_names(cls)
        if not isinstance(value, dict) or len(value) <= len(known) + MAX_PROBLEMS:
            return value
        unknown = islice((name for name in value if name not in known), MAX_PROBLEMS)
        return {name: value[name] for name in [*(name for name in known if name in value), *unknown]}


@cache
def _member_names(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def limit_members(most: int) -> WrapValidator:
    """Return a validator that refuses more than `most` members, and validates a few at a time up to the first error."""

    def validate(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401 - JSON is any value
        if not isinstance(value, dict) or len(value) <= _PIECE:
            return handler(value)
        if len(value) > most:
            raise PydanticCustomError(
                "refused", "has too many members: at most {most} are allowed", {"most": f"{most:,}"}
            )
        members = iter(value.items())
        accepted: dict[str, Any] = {}
        while piece := dict(islice(members, _PIECE)):
            accepted |= handler(piece)
        return accepted

    return WrapValidator(validate)


# Pydantic's own messages may quote the input; these do not.
_WHAT = {
    "missing": "is missing",
    "extra_forbidden": "has an unknown member{named}: its members are {members}{meant}",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "too_short": "has too few items: at least {min_length} are needed",
    "too_long": "has too many items: at most {max_length} are allowed",
    "string_too_short": "is too short: at least {min_length} characters are needed",
    "string_too_long": "is too long: at most {max_length} characters are allowed",
    "string_pattern_mismatch": "must match {pattern}",
    "literal_error": "must be one of {expected}{meant}",
    "union_tag_invalid": "must be one of {expected_tags}{meant}",
    "union_tag_not_found": "is missing: it must be one of {kinds}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


class _Body:
    """An invalid body, which knows the path to a problem. A name that the caller chose is replaced by its position."""

    def __init__(self, body: Any) -> None:  # noqa: ANN401 - JSON is any value
        self._body = body
        self._positions: dict[int, dict[str, str]] = {}  # the positions of an object's members, by the object's id

    def path(self, location: Sequence[str | int], *, unknown_member: bool) -> str:
        """Return the path to one of pydantic's locations, such as `columns.2.bounds`."""
        path: list[str] = []
        body, tagged = self._body, None
        for index, step in enumerate(location):
            last = index == len(location) - 1
            named_by_caller = bool(path) and path[-1] in {"columns", "where"}
            if isinstance(body, dict) and body is not tagged and body.get("kind") == step and not named_by_caller:
                tagged = body  # pydantic names the branch by the kind, which may also be a member's name
            elif isinstance(body, dict) and step in body:
                if not (last and unknown_member):
                    path.append(self._position(body, str(step)) if named_by_caller else str(step))
                body = body[step]
            elif isinstance(step, int):
                path.append(str(step))
                body = body[step] if isinstance(body, list) and step < len(body) else None
            elif last and not unknown_member and not isinstance(body, list):
                path.append(step)
            # Any other step is pydantic's name for a branch of a union.
        return ".".join(path) or "body"

    def describe_column(self, where: str) -> str:
        """Return which column a path below `columns` means: ` (column 3 of 7)`; otherwise an empty text."""
        columns = self._body.get("columns") if isinstance(self._body, dict) else None
        found = _COLUMN.match(where)
        return f" (column {int(found[1]) + 1:,} of {len(columns):,})" if found and isinstance(columns, dict) else ""

    def _position(self, members: Mapping[str, Any], name: str) -> str:
        if id(members) not in self._positions:
            self._positions[id(members)] = {each: str(position) for position, each in enumerate(members)}
        return self._positions[id(members)][name]


def _describe_error(problem: Mapping[str, Any], model: type[BaseModel], body: _Body) -> tuple[str, str]:
    """Return one of pydantic's problems as (where, what), with the allowed values; the text never repeats the input."""
    kind, location, context = problem["type"], problem["loc"], dict(problem.get("ctx", {}))
    where = body.path(location, unknown_member=kind == "extra_forbidden")
    if kind == "extra_forbidden":
        members = allowed_members.members(model, location[:-1])
        context["meant"] = suggest_name(location[-1], members)
        context["named"] = f" '{location[-1]}'" if context["meant"] else ""  # only a near miss is repeated
        context["members"] = ", ".join(members)
    elif kind in {"literal_error", "union_tag_invalid"}:
        valid = _QUOTED.findall(context.get("expected") or context["expected_tags"])
        given = context.get("tag", problem["input"])
        context["meant"] = _suggest_median(valid) if given == "median" else suggest_name(given, valid)
    elif kind == "union_tag_not_found" and not isinstance(problem["input"], dict):
        kind = "model_type"
    elif kind in {"too_short", "too_long"} and isinstance(problem["input"], str):
        kind = f"string_{kind}"  # of a text that was checked by a function before its length
    if kind.startswith("union_tag"):
        where = f"{where}.kind"
        context["kinds"] = ", ".join(f"'{each}'" for each in allowed_members.kinds(model, location))
    what = problem["msg"] if kind == "refused" else _WHAT.get(kind, "is not valid").format_map(context)
    if kind == "extra_forbidden" and location[-1] == "missing":
        what += "; a statistic of known values is derived: send it to `derived`"
    return where.removeprefix("body."), what + body.describe_column(where)


def _suggest_median(kinds: Sequence[str]) -> str:
    """Return how to ask for a median, which is no kind of its own."""
    where = "" if "quantile" in kinds else " to the path `derived`"
    return f'; for a median, send {{"kind": "quantile", "probabilities": [0.5]}}{where}'


def _different(problems: Sequence[Mapping[str, Any]], model: type[BaseModel], body: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    """Yield each problem once, as (where, what)."""
    refused, told = _Body(body), set()
    for each in problems:
        problem = _describe_error(each, model, refused)
        if problem not in told:
            told.add(problem)
            yield problem


def describe_problems(error: ValidationError, model: type[BaseModel], body: Any) -> list[tuple[str, str]]:  # noqa: ANN401
    """Return the first distinct problems of an invalid body, each as (where, what)."""
    return list(islice(_different(error.errors(include_url=False), model, body), MAX_PROBLEMS))


def validate(model: type[Model], body: Any) -> Model:  # noqa: ANN401 - JSON is any value
    """Return the body as a model.

    Raises:
        InvalidRequestError: the body is not valid.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise InvalidRequestError(*describe_problems(error, model, body)) from None
