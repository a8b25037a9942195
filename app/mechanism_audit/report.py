"""Runs `snapledger audit`: the audits of several mechanisms and of statistics of neighbouring datasets."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation

from gmpy2 import mpq

from app.dp.mechanism.mechanism import DEFAULT_REFINEMENT
from app.dp.mechanism.parameters import GAMMA, WHOLE
from app.dp.numbers.exact import Rational, decimal_text
from app.mechanism_audit import neighbours
from app.mechanism_audit.audit import audit
from app.mechanism_audit.draft import report as draft
from app.mechanism_audit.findings import Finding, as_far_as_possible
from app.mechanism_audit.subject import COUNTS, SINGLE
from app.mechanism_audit.tables import EXCEEDED, HOLDS, Section, show
from snapledger_client.cli.output import OutputFormat

EPSILONS = (mpq(1, 10), mpq(1), mpq(10))
ROWS = (100,)

_MIN_EPSILON, _MAX_EPSILON = Decimal("1e-9"), Decimal(1000)
_ROWS_OF_A_PERSON = (1, 3)


def run(epsilons: Sequence[str], rows: Sequence[int], *, output_format: OutputFormat, of_the_draft: bool) -> bool:
    """Audit each ε with each number of rows, print the findings and return whether all claims hold.

    Args:
        epsilons: the ε as decimals; `EPSILONS` if empty.
        rows: the numbers of rows; `ROWS` if empty.
        output_format: how to print them.
        of_the_draft: check the theorem of Liu's draft instead of the mechanisms.

    Raises:
        ValueError: if an ε is not a decimal from 10⁻⁹ to 1,000, or a number of rows is below 2.
    """
    exact = [_epsilon(text) for text in epsilons]
    if any(n < 2 for n in rows):
        raise ValueError("an audit takes at least two rows")
    asked = exact or EPSILONS, rows or ROWS
    if of_the_draft:
        return show(draft.sections(*asked), draft.VERDICTS, output_format=output_format)
    return show(_sections(*asked), ("Every claim holds.", "Not every claim holds."), output_format=output_format)


def _epsilon(text: str) -> Rational:
    try:
        epsilon = Decimal(text)
    except InvalidOperation:
        epsilon = Decimal(0)
    if not epsilon.is_finite() or not _MIN_EPSILON <= epsilon <= _MAX_EPSILON:
        raise ValueError("an audit takes an ε from 0.000000001 to 1000")
    return mpq(*epsilon.as_integer_ratio())


def _sections(epsilons: Sequence[Rational], rows: Sequence[int]) -> Iterator[Section]:
    for n in rows:
        for epsilon in epsilons:
            asked = f"ε = {decimal_text(epsilon)}, {n:,} rows, γ = {decimal_text(GAMMA)}"
            half = mpq(n, 2)
            default = audit(epsilon, half, grid_refinement=DEFAULT_REFINEMENT)
            yield _section(f"A mean at {asked}, on the default grid", default)
            yield _section(f"A mean at {asked}, on the grid of the notes", audit(epsilon, half, grid_refinement=0))
            counts = audit(epsilon / 2, mpq(n - n // 2), grid_refinement=WHOLE, implementation=COUNTS)
            yield _section(f"A bin of a histogram, drawn in bulk at half of ε; {asked}", counts)
            for moved in _ROWS_OF_A_PERSON:
                title = f"Statistics of neighbours, {moved} of whose rows differ; {asked}"
                yield _section(title, neighbours.findings(epsilon, n, moved, SINGLE, COUNTS))


def _section(title: str, findings: Iterable[Finding]) -> Section:
    columns = ("parameter", "examined", "claimed", "exact", "verdict")
    found = list(as_far_as_possible(findings))
    rows = tuple((f.quantity, f.examined, f.claimed, f.exact, HOLDS if f.holds else EXCEEDED) for f in found)
    return Section(title, columns, rows, all(f.holds for f in found))
