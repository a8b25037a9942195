"""Runs `snapledger audit --draft`: the constant that each case of the theorem needs, and the cost of a 53-bit U."""

from collections.abc import Iterator, Mapping, Sequence

from gmpy2 import mpq

from app.dp.mechanism.parameters import derive_parameters
from app.dp.numbers.exact import Rational, decimal_text
from app.mechanism_audit.draft.cases import Case, Need, Setting, search
from app.mechanism_audit.draft.notes import draw_of_the_notes
from app.mechanism_audit.draft.theorem import excess_bound
from app.mechanism_audit.findings import beside, short
from app.mechanism_audit.privacy import loss, maximum
from app.mechanism_audit.subject import SINGLE, Implementation, Subject
from app.mechanism_audit.tables import HOLDS, Section

THEOREM = mpq(12)
"""The constant of the draft's Theorem 2, of Mironov and of the notes."""

UNIFORM_ERROR = mpq(1, 2**52)
"""The relative error of a U that is truncated to 53 bits."""

VERDICTS = (
    "No input that was tried needs more than is proved for all.",
    "An input needs more than is proved for all.",
)

_RELEASES, _PAIRS = 16, 4
_ABOVE = "above ε"


def sections(epsilons: Sequence[Rational], rows: Sequence[int]) -> Iterator[Section]:
    """Yield for each ε and number of rows the cases, and the theorem for the draft, the notes and this code."""
    for n in rows:
        for epsilon in epsilons:
            setting = Setting.of(epsilon, mpq(n, 2))
            asked = (
                f"ε = {decimal_text(epsilon)}, {n:,} rows: 1/ε = {short(1 / epsilon)} < B = {short(setting.bound)}, "
                f"Λε = {short(setting.grid * epsilon)}, η = 2^{-(setting.eta.denominator.bit_length() - 1)}"
            )
            yield _cases(f"The constant c of a loss of ε(1 + c·Bη), U being a real number; {asked}", setting)
            yield _implementations(f"What is left of it; {asked}", setting, mpq(n, 2))


def _cases(title: str, setting: Setting) -> Section:
    columns = ("case", "the draft", "proved for all inputs", "most found needed", "at f(a)", "x/Λ", "the draft's")
    found = search(setting)
    proved = {case: setting.constant(excess_bound(case, setting)) for case in Case}
    rows = [_row(case, proved[case], found.get(case)) for case in Case]
    holds = all(need.constant <= proved[case] for case, need in found.items())
    worst = max(found.values(), key=lambda need: need.constant)
    return Section(title, columns, (*rows, _theorem(proved, worst)), holds)


def _row(case: Case, proved: Rational, need: Need | None) -> tuple[str, ...]:
    draft = "blank" if case.claimed is None else _constant(case.claimed)
    if need is None:
        return case.title, draft, _constant(proved), "no such x", "", "", _verdict(case.claimed, proved, None)
    needed = _constant(need.constant) if need.constant > 0 else "0, below ε"
    verdict = _verdict(case.claimed, proved, need.constant)
    return case.title, draft, _constant(proved), needed, short(need.query), str(need.release), verdict


def _theorem(proved: Mapping[Case, Rational], worst: Need) -> tuple[str, ...]:
    claimed, bound = mpq(12), max(proved.values())
    verdict = _verdict(claimed, bound, worst.constant)
    return (
        "all: Theorem 2",
        "12",
        _constant(bound),
        _constant(worst.constant),
        short(worst.query),
        str(worst.release),
        verdict,
    )


def _verdict(claimed: Rational | None, proved: Rational, needed: Rational | None) -> str:
    """Return a verdict on the draft's constant, from the proved bound and the largest constant that was needed."""
    if claimed is None:
        return ""
    if proved <= claimed:
        return "suffices"
    return "too small" if needed is not None and needed > claimed else "not shown"


def _implementations(title: str, setting: Setting, b_prime: Rational) -> Section:
    columns = ("implementation", "proved for all inputs: loss ≤", "exact loss, of some inputs", "verdict")
    parameters = derive_parameters(setting.epsilon, b_prime)
    proved, with_53_bits = (max(excess_bound(case, setting, u) for case in Case) for u in (mpq(0), UNIFORM_ERROR))
    rows = [("the draft's: relative error η, U real", f"ε + {short(proved)}", "of no one implementation", _ABOVE)]
    holds = True
    for name, bound, implementation in (
        ("the notes': the same, U of 53 bits", f"ε + {short(with_53_bits)}", Implementation(draw=draw_of_the_notes)),
        ("this one: U revealed bit by bit", "ε′", SINGLE),
    ):
        subject = Subject(parameters, implementation, _RELEASES)
        greatest = maximum(loss(subject, *pair) for pair in subject.pairs(mpq(1))[:_PAIRS])
        within = greatest is not None and bool(greatest.upper <= setting.epsilon)
        holds = holds and (within or implementation is not SINGLE)
        exact = "unbounded" if greatest is None else beside(greatest.lower, setting.epsilon, "ε")
        rows.append((name, bound, exact, HOLDS if within else _ABOVE))
    return Section(title, columns, tuple(rows), holds)


def _constant(c: Rational) -> str:
    return decimal_text(c, 4)
