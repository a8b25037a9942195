"""A schema for each problem, made of the table of problems, with the members that it has beyond those of all."""

from typing import Any, Final, Literal

from pydantic import BaseModel, Field, create_model

from app.api import problems
from app.api.schemas.responses import EpsilonText, Problem, Time
from app.errors import SnapledgerError

_MEANINGS: Final = {
    "malformed-json": "The body is not JSON in UTF-8, or has what JSON has not, such as NaN: `detail` says what.",
    "unauthenticated": "Send the header `Authorization: Bearer` with a key or token that is valid.",
    "forbidden": "The key may see the path, but its role or its allowance does not allow this: `detail` says why.",
    "not-found": "It does not exist, or your key may not see it: check the names in the path.",
    "budget-exhausted": (
        "The request costs more than is left of the dataset's budget or of your allowance. Nothing was debited. Ask "
        "for less, or ask the dataset's owner for more; an allowance with a window is renewed at `renews_at`."
    ),
    "storage-exhausted": (
        "The answers that the service stores for retries are as large as the operator allows. Nothing was debited. You "
        "can still read earlier releases and repeat earlier requests."
    ),
    "too-large": "The body is larger than the limit, which `detail` names.",
    "unsupported-media-type": "The service does not read this Content-Type or Content-Encoding: `detail` says which.",
    "invalid-request": "The request does not fit the schema, or the dataset: `errors` says where and what.",
    "accuracy-unattainable": "This radius costs more than one release may cost: ask for a larger one.",
    "epsilon-too-large": "One release may cost at most `limit`: ask for less.",
    "rate-limited": "Wait for as many seconds as the header Retry-After says, then send the request again.",
    "bad-request": "The request is not valid HTTP, or its headers are too large or too many.",
}
"""What a problem means, where its `detail` differs from one response to another."""


class RequestError(BaseModel):
    """What is wrong with one member, parameter or header of a request; it never repeats what was sent."""

    where: str = Field(description="The path to the member, such as `statistic.bounds`, or a parameter or a header.")
    what: str = Field(description="What is wrong, and what was expected.")


class _BudgetExhausted(Problem):
    scope: Literal["dataset", "allowance", "report"] = Field(description="Whose budget does not cover the request.")
    requested: EpsilonText = Field(description="The ε that the request costs.")
    remaining: EpsilonText = Field(description="The ε that is left.")
    limit: EpsilonText = Field(description="The most ε that may be spent.")
    renews_at: Time | None = Field(
        default=None, description="When the allowance is renewed; absent if that does not help."
    )


class _StorageExhausted(Problem):
    scope: Literal["dataset", "allowance"] = Field(
        description="Whether the answers of all principals on the dataset are too large, or those of the caller."
    )
    stored_bytes: int = Field(description="The bytes that are stored.")
    limit_bytes: int = Field(description="The most bytes that may be stored.")


class _InvalidRequest(Problem):
    errors: list[RequestError] = Field(description="What is wrong, and where: the first 10 problems.")


class _AccuracyUnattainable(Problem):
    epsilon: EpsilonText = Field(description="The ε that this radius would cost.")


class _EpsilonTooLarge(Problem):
    limit: EpsilonText = Field(description="The most ε that one release may cost.")


_WITH_MEMBERS: Final[dict[str, type[Problem]]] = {
    "budget-exhausted": _BudgetExhausted,
    "storage-exhausted": _StorageExhausted,
    "invalid-request": _InvalidRequest,
    "accuracy-unattainable": _AccuracyUnattainable,
    "epsilon-too-large": _EpsilonTooLarge,
}


def _make_model(status: int, slug: str, meaning: str) -> type[Problem]:
    name = "".join(word.capitalize() for word in slug.split("-"))
    path: Any = Literal[f"/problems/{slug}"]
    code: Any = Literal[status]
    return create_model(
        name,
        __base__=_WITH_MEMBERS.get(slug, Problem),
        __doc__=meaning,
        type=(path, Field(description=f"Always `/problems/{slug}`.")),
        status=(code, Field(description=f"Always {status}.")),
    )


def explain(problem: problems.Problem) -> str:
    """Return what a problem means, and what to do about it."""
    return problem.detail if isinstance(problem.detail, str) else _MEANINGS[problem.slug]


_DECLARED: Final = {problem.slug: problem for problem in (*problems.PROBLEMS.values(), problems.BAD_REQUEST)}
MODELS: Final = {slug: _make_model(each.status, slug, explain(each)) for slug, each in _DECLARED.items()}
"""The schema of each problem, by its slug."""


def list_slugs(status: int) -> list[str]:
    """Return the problems of a status."""
    return sorted(slug for slug, problem in _DECLARED.items() if problem.status == status)


def slug_of(error: type[SnapledgerError]) -> tuple[int, str]:
    """Return the status and the slug of an error's problem."""
    return problems.PROBLEMS[error].status, problems.PROBLEMS[error].slug


def union_of(slugs: list[str]) -> dict[str, Any]:
    """Return the schema of one of these problems, told apart by `type`."""
    references = {slug: f"#/components/schemas/{MODELS[slug].__name__}" for slug in slugs}
    if len(slugs) == 1:
        return {"$ref": references[slugs[0]]}
    mapping = {f"/problems/{slug}": reference for slug, reference in references.items()}
    choices = [{"$ref": reference} for reference in references.values()]
    return {"oneOf": choices, "discriminator": {"propertyName": "type", "mapping": mapping}}
