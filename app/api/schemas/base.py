"""What all request bodies have in common, and how a refusal of one is told: where and what, never the input."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from app.api.schemas import places
from app.errors import InvalidRequestError

MOST_PROBLEMS = 10  # an answer must not grow with what was sent

Model = TypeVar("Model", bound=BaseModel)


class RequestModel(BaseModel):
    """A body, or a part of one: unknown members are refused, since a misspelt option must not be ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=True)


# Pydantic's own texts may quote the input; these say the same without it.
_WHAT = {
    "missing": "is missing",
    "extra_forbidden": "has a member that is not known here: known are {members}",
    "model_type": "is not an object",
    "model_attributes_type": "is not an object",
    "dict_type": "is not an object",
    "list_type": "is not a list",
    "tuple_type": "is not a list",
    "too_short": "has too few items: at least {min_length}",
    "too_long": "has too many items: at most {max_length}",
    "string_too_short": "is too short: at least {min_length} characters",
    "string_too_long": "is too long: at most {max_length} characters",
    "string_pattern_mismatch": "does not match {pattern}",
    "literal_error": "is not one of {expected}",
    "union_tag_invalid": "is not one of {expected_tags}",
    "union_tag_not_found": "is missing: it is one of {kinds}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


def _where(location: Sequence[str | int], body: Any, *, unknown_member: bool) -> str:  # noqa: ANN401 - JSON is any value
    """A path into the body in our own words; a name that the caller made up is told by its position."""
    path: list[str] = []
    for index, step in enumerate(location):
        last = index == len(location) - 1
        if isinstance(body, dict) and step in body:
            named_by_caller = bool(path) and path[-1] in {"columns", "where"}
            if not (last and unknown_member):
                path.append(str(list(body).index(str(step))) if named_by_caller else str(step))
            body = body[step]
        elif isinstance(step, int):
            path.append(str(step))
            body = body[step] if isinstance(body, list) and step < len(body) else None
        elif last and not unknown_member and not isinstance(body, list):
            path.append(step)
        # Anything else is pydantic's name of the branch of a union.
    return ".".join(path) or "body"


def _told(problem: Mapping[str, Any], model: type[BaseModel], body: Any) -> tuple[str, str]:  # noqa: ANN401
    """One of pydantic's problems as (where, what), with what is allowed there; the input is looked at, never told."""
    kind, location, context = problem["type"], problem["loc"], dict(problem.get("ctx", {}))
    where = _where(location, body, unknown_member=kind == "extra_forbidden")
    if kind == "extra_forbidden":
        context["members"] = ", ".join(places.members(model, location[:-1]))
    elif kind == "union_tag_not_found" and not isinstance(problem["input"], dict):
        kind = "model_type"
    elif kind.startswith("union_tag"):
        where = f"{where}.kind"
        context["kinds"] = ", ".join(f"'{each}'" for each in places.kinds(model, location))
    what = problem["msg"] if kind == "refused" else _WHAT.get(kind, "is not valid").format_map(context)
    return where.removeprefix("body."), what


def problems_of(error: ValidationError, model: type[BaseModel], body: Any) -> list[tuple[str, str]]:  # noqa: ANN401
    """The first different problems of a body that is no such model, each as (where, what)."""
    problems = [_told(each, model, body) for each in error.errors(include_url=False)]
    return list(dict.fromkeys(problems))[:MOST_PROBLEMS]


def validated(model: type[Model], body: Any) -> Model:  # noqa: ANN401 - JSON is any value
    """The body as a model.

    Raises:
        InvalidRequestError: it does not fit.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise InvalidRequestError(*problems_of(error, model, body)) from None
