"""Finds the members that a body's models allow at a location, so that an error message can list them."""

from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, Tag
from typing_extensions import TypeAliasType


class _Alternative(NamedTuple):
    """One type of a union, and the tags by which pydantic's locations name it."""

    of: Any
    tags: frozenset[str]

    @property
    def model(self) -> type[BaseModel] | None:
        return self.of if isinstance(self.of, type) and issubclass(self.of, BaseModel) else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The values of the member `kind`, if the model has one."""
        field = None if self.model is None else self.model.model_fields.get("kind")
        return get_args(field.annotation) if field and get_origin(field.annotation) is Literal else ()

    def inside(self, step: str | int) -> Any:  # noqa: ANN401 - an annotation
        """Return the annotation of a member or item; None if there is no such member."""
        if self.model is not None:
            fields = self.model.model_fields
            return next((each.annotation for name, each in fields.items() if (each.alias or name) == step), None)
        arguments = get_args(self.of)
        return arguments[-1] if get_origin(self.of) in {dict, list} else None


def _alternatives(annotation: Any, tags: frozenset[str] = frozenset()) -> Iterator[_Alternative]:  # noqa: ANN401
    if isinstance(annotation, TypeAliasType):
        yield from _alternatives(annotation.__value__, tags)
    elif get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        yield from _alternatives(inner, tags | {each.tag for each in metadata if isinstance(each, Tag)})
    elif get_origin(annotation) in {Union, UnionType}:
        for each in get_args(annotation):
            yield from _alternatives(each, tags)
    else:
        plain = _Alternative(annotation, tags)
        yield plain._replace(tags=tags | set(plain.kinds))


def _at(model: type[BaseModel], location: Sequence[str | int]) -> list[_Alternative]:
    """Return the types that a value at one of pydantic's locations may have."""
    found = list(_alternatives(model))
    for step in location:
        tagged = [each for each in found if step in each.tags]
        if len(found) > 1 and tagged:
            found = tagged
        else:
            found = [inner for each in found for inner in _alternatives(each.inside(step))]
    return found


def members(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """Return the names of the members that an object at this location of a body may have, required ones first."""
    models = [each.model for each in _at(model, location) if each.model is not None]
    fields = [member for each in models for member in each.model_fields.items()]
    fields.sort(key=lambda member: not member[1].is_required())
    return list(dict.fromkeys(field.alias or name for name, field in fields))


def kinds(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """Return the values of `kind` that an object at this location of a body may have."""
    return list(dict.fromkeys(kind for each in _at(model, location) for kind in each.kinds))
