"""Plans and releases with the client that openapi-generator's `python` makes."""

import json
import os

from openapi_generated import (
    ApiClient,
    Bins,
    BudgetExhausted,
    Condition,
    ConditionObject,
    Configuration,
    DerivedRequest,
    DerivedStatistic,
    Epsilon,
    Histogram,
    HistogramBins,
    Mean,
    PlanRequest,
    PositiveNumber,
    RangeEnd,
    Release,
    ReleaseRequest,
    ReleasesApi,
    StandardDeviation,
    Statistic,
)
from openapi_generated.exceptions import ConflictException


def main() -> None:
    configuration = Configuration(host=os.environ["SNAPLEDGER_URL"], access_token=os.environ["SNAPLEDGER_KEY"])
    dataset = os.environ["SNAPLEDGER_DATASET"]
    releases: list[Release] = []
    with ApiClient(configuration) as client:
        api = ReleasesApi(client)
        mean = Statistic(Mean(kind="mean", column="x"))
        plan = api.plan_release(dataset, PlanRequest(statistic=mean, accuracy=PositiveNumber(5)))
        asked = ReleaseRequest(statistic=mean, epsilon=Epsilon("0.5"))
        releases += [api.create_release(dataset, asked, idempotency_key="openapi-generator") for _ in range(2)]
        where = {"x": Condition(ConditionObject(at_least=RangeEnd(10)))}
        histogram = Histogram(kind="histogram", column="x", bins=HistogramBins(Bins(4)), where=where)
        asked = ReleaseRequest(statistic=Statistic(histogram), epsilon=Epsilon("0.25"))
        releases.append(api.create_release(dataset, asked))
        releases.append(
            api.create_release(dataset, ReleaseRequest(statistic=releases[-1].statistic, epsilon=Epsilon(0.25)))
        )
        derived = DerivedStatistic(StandardDeviation(kind="standard_deviation", column="x"))
        deviation = api.create_derived_statistic(dataset, DerivedRequest(derived=derived, epsilon=Epsilon("0.25")))
        refusal = None
        try:
            api.create_release(dataset, ReleaseRequest(statistic=mean, epsilon=Epsilon("9.5")))
        except ConflictException as error:
            if error.data is not None and isinstance(error.data.actual_instance, BudgetExhausted):
                refusal = error.data.actual_instance.remaining
    derived_value = deviation.estimates["standard_deviation"].value
    told = {
        "planned": plan.privacy.epsilon,
        "releases": [[each.id, each.value.actual_instance] for each in releases],
        "derived": None if derived_value is None else derived_value.actual_instance,
        "remaining": refusal,
    }
    print(json.dumps(told))


main()
