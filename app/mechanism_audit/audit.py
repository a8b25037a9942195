"""The audit of one mechanism: its parameters, distribution, privacy loss and accuracy."""

from collections.abc import Iterator

from app.dp.mechanism.parameters import GAMMA, Parameters, Refinement
from app.dp.numbers.exact import Rational
from app.mechanism_audit import agreement, definition, privacy, tails
from app.mechanism_audit.findings import Finding, as_far_as_possible
from app.mechanism_audit.subject import SINGLE, Implementation, Subject


def audit(  # noqa: PLR0913, PLR0917  what a mechanism depends on, and what is looked at
    epsilon: Rational,
    b_prime: Rational,
    gamma: Rational = GAMMA,
    grid_refinement: Refinement = 0,
    implementation: Implementation = SINGLE,
    most_releases: int = 96,
) -> Iterator[Finding]:
    """Yield the findings on all claims about a mechanism of cost ε on the normalised range ±B'."""
    parameters = implementation.derive(epsilon, b_prime, gamma, grid_refinement)
    return as_far_as_possible(_findings(parameters, implementation, most_releases))


def _findings(parameters: Parameters, implementation: Implementation, most_releases: int) -> Iterator[Finding]:
    yield from definition.findings(parameters)
    subject = Subject(parameters, implementation, most_releases)
    for check in (agreement, privacy, tails):
        yield from check.findings(subject)
