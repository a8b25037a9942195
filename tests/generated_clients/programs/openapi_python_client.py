"""Uploads, plans and releases with the client that openapi-python-client makes."""

import io
import json
import os

from openapi_generated import AuthenticatedClient
from openapi_generated.api.datasets import upload_dataset
from openapi_generated.api.releases import create_derived_statistic, create_release, plan_release
from openapi_generated.models import (
    BudgetExhausted,
    ConditionObject,
    DatasetPlan,
    DatasetRequest,
    DatasetUpload,
    DerivedAnswer,
    DerivedRequest,
    Histogram,
    Mean,
    PlanRequest,
    RegisteredDataset,
    Release,
    ReleaseRequest,
    StandardDeviation,
    Where,
)
from openapi_generated.types import File


def upload(owner: AuthenticatedClient, name: str, columns: dict[str, object]) -> None:
    """Register a copy of the table."""
    metadata = DatasetRequest.from_dict({"name": name, "epsilon_limit": "1", "columns": columns})
    content = "x\n" + "".join(f"{i}\n" for i in range(100))
    file = File(payload=io.BytesIO(content.encode()), file_name="copy.csv")
    registered = upload_dataset.sync(client=owner, body=DatasetUpload(metadata=metadata, file=file))
    assert isinstance(registered, RegisteredDataset), registered
    assert registered.n == 100


def main() -> None:
    url, dataset = os.environ["SNAPLEDGER_URL"], os.environ["SNAPLEDGER_DATASET"]
    upload(
        AuthenticatedClient(url, os.environ["SNAPLEDGER_OWNER_KEY"]),
        "uploaded-by-openapi-python-client",
        {"x": {"kind": "integer", "bounds": [0, 100]}},
    )
    client = AuthenticatedClient(url, os.environ["SNAPLEDGER_KEY"])
    mean = Mean(kind="mean", column="x")
    plan = plan_release.sync(dataset, client=client, body=PlanRequest(statistic=mean, accuracy=5))
    assert isinstance(plan, DatasetPlan)
    where = Where()
    where["x"] = ConditionObject(at_least=10)
    histogram = Histogram(kind="histogram", column="x", bins=4, where=where)
    answers = [
        create_release.sync(dataset, client=client, body=request, idempotency_key=key)
        for key, request in (
            ("openapi-python-client", ReleaseRequest(statistic=mean, epsilon="0.5")),
            ("openapi-python-client", ReleaseRequest(statistic=mean, epsilon="0.5")),
            ("a histogram", ReleaseRequest(statistic=histogram, epsilon="0.25")),
        )
    ]
    releases = [answer for answer in answers if isinstance(answer, Release)]
    again = create_release.sync(dataset, client=client, body=ReleaseRequest(releases[-1].statistic, epsilon=0.25))
    assert isinstance(again, Release)
    derived = DerivedRequest(derived=StandardDeviation(kind="standard_deviation", column="x"), epsilon="0.25")
    deviation = create_derived_statistic.sync(dataset, client=client, body=derived)
    assert isinstance(deviation, DerivedAnswer)
    refusal = create_release.sync(dataset, client=client, body=ReleaseRequest(statistic=mean, epsilon="9.5"))
    assert isinstance(refusal, BudgetExhausted)
    told = {
        "planned": plan.privacy.epsilon,
        "releases": [[each.id, each.value] for each in (*releases, again)],
        "derived": deviation.estimates["standard_deviation"].value,
        "remaining": refusal.remaining,
    }
    print(json.dumps(told))


main()
