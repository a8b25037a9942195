"""Answers a question with a single release."""

from app.services.access import Access
from app.services.context import Services
from app.services.planning import questions
from app.services.planning.questions import Question
from app.services.releasing import release_flow
from app.services.releasing.release_requests import PlannedRequest, ReleaseRequest
from app.services.releasing.replays import Answer, IdempotencyKey


def release(
    services: Services, access: Access, question: Question, key: IdempotencyKey | None, *, rehearse: bool
) -> Answer:
    """Answer a question with a replayed answer, an earlier release, or a fresh release that is debited.

    With `rehearse`, the answer is a rehearsal.

    Raises:
        As `release_flow.answer_request`.
    """
    request = ReleaseRequest(
        question.reuse,
        items=1,
        kinds=lambda: [question.statistic["kind"]],
        plan=lambda: PlannedRequest(
            [questions.make_plan(access.dataset, question, services.settings.max_epsilon_nano)]
        ),
        rehearse=rehearse,
    )
    return release_flow.answer_request(services, access, request, key)
