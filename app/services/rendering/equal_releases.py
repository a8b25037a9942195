"""An earlier release as the answer to a question about another statistic that has the same numbers."""

import json

from gmpy2 import mpq

from app.dp.mechanism.released_values import ReleasedValues
from app.dp.numbers.exact import Rational
from app.dp.statistics.equal_numbers import EqualStatistic
from app.errors import DamagedAnswerError
from app.json_text import encode_json
from app.ledger.answers.answer_storage import Body, Opening
from app.ledger.answers.releases import Release
from app.services.planning.questions import Plan
from app.services.rendering import documents
from app.services.rendering.release_answers import PreparedRelease, encode_answer, fresh_outcome, past_cost


def prepare_equal_release(release: Release, stored: Body, plan: Plan, equal: EqualStatistic) -> PreparedRelease:
    """Return the answer to a question about another statistic: all but the id and the time is in that one's terms.

    Args:
        release: the release.
        stored: its answer.
        plan: what the release promises for the statistic that is asked for.
        equal: the statistic of the release.

    Raises:
        DamagedAnswerError: the stored answer is not what was written.
    """
    try:
        document = json.loads(b"".join(stored.read_checked_pieces()))
        dataset, told = encode_json(document["dataset"]), document["value_exact"]
        numbers = [_read_number(text, plan, equal) for text in ([told] if isinstance(told, str) else told)]
        drawn = ReleasedValues.several(equal.convert(numbers))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise DamagedAnswerError from error
    common = {"dataset": dataset, **documents.encode_facts(plan)}
    opening = Opening(encode_answer(release.id, common, plan, drawn, past_cost(plan)))
    return PreparedRelease(release.id, plan, opening, release.created_at, lambda _: fresh_outcome(plan, drawn))


def _read_number(text: str, plan: Plan, equal: EqualStatistic) -> Rational:
    """Return the number that was released, exactly.

    A text has at most 50 digits. A number that is to be multiplied is therefore looked up among those that the
    mechanism can release: the multiples of the grid, and the bounds.
    """
    number = mpq(text)
    if equal.factor == 1:
        return number
    centre, unit, parameters = equal.statistic.centre, equal.statistic.sensitivity, plan.mechanism.parameters
    drawn = (number - centre) / unit
    nearest = (drawn / parameters.grid + mpq(1, 2)).__floor__() * parameters.grid
    return centre + unit * min((nearest, parameters.bound, -parameters.bound), key=lambda z: abs(z - drawn))
