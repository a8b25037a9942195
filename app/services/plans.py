"""The free half of the main job: what a release would cost and promise."""

from app.dp.numbers import round_up
from app.ledger import accounts
from app.ledger.units import NANO_PER_EPSILON, epsilon_text
from app.services import documents, questions, reuse, scans
from app.services.access import Access
from app.services.context import Services
from app.services.documents import Document
from app.services.questions import Plan, Question


def plan(services: Services, entered: Access, question: Question) -> bytes:
    """The JSON of what a release of the question would be; nothing is read of the data, and nothing is debited.

    Raises:
        DatasetClosedError, DatasetStaleError: there is no data any more, or not the one that was registered.
        InvalidRequestError and the rest of `questions.make`'s: the question is refused.
    """
    scans.require_open(entered.dataset)
    planned = questions.make(entered.dataset, question, services.settings.max_epsilon_nano)
    with services.database.read() as session:
        earlier = reuse.find(session, entered.dataset, planned) if question.reuse else None
        account = accounts.find(session, entered.dataset.id)
    cost_nano, allowance = planned.epsilon_nano, entered.allowance
    # Whoever rules a dataset may plan before it grants itself an allowance; a release it could not pay.
    spendable_nano = 0 if allowance is None else min(account.remaining_nano, allowance.remaining_nano)
    budget = {
        "charged": epsilon_text(0 if earlier else cost_nano),
        "dataset_remaining": epsilon_text(account.remaining_nano),
        "allowance_remaining": None if allowance is None else epsilon_text(allowance.remaining_nano),
        "affordable": allowance is not None and (earlier is not None or cost_nano <= spendable_nano),
        "repeatable": spendable_nano // cost_nano,
    }
    cliff = _cliff(planned, services.settings.max_epsilon_nano)
    return documents.planned(entered.dataset, planned, budget=budget, cliff=cliff, reused=earlier is not None)


def _cliff(planned: Plan, most_nano: int) -> Document | None:
    """The next ε above at which the grid halves, and the radius there; None above the largest ε of a release."""
    beyond = planned.beyond_cliff
    epsilon_nano = int(beyond.epsilon * NANO_PER_EPSILON)
    if epsilon_nano > most_nano:
        return None
    return {"epsilon": epsilon_text(epsilon_nano), "accuracy": round_up(beyond.radius(planned.alpha))}
