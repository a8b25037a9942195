"""Plans and releases with httpx and the models that datamodel-code-generator makes."""

import json
import os

import httpx
from openapi_generated import (
    BudgetExhausted,
    DatasetPlan,
    DerivedAnswer,
    DerivedRequest,
    PlanRequest,
    Release,
    ReleaseRequest,
)
from pydantic import BaseModel

MEAN = {"kind": "mean", "column": "x"}
HISTOGRAM = {"kind": "histogram", "column": "x", "bins": 4, "where": {"x": {"at_least": 10}}}


def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['SNAPLEDGER_KEY']}"}
    path = f"{os.environ['SNAPLEDGER_URL']}/v1/datasets/{os.environ['SNAPLEDGER_DATASET']}"

    def post(what: str, body: BaseModel, **more: str) -> httpx.Response:
        content = body.model_dump_json(by_alias=True, exclude_none=True)
        own = headers | {"Content-Type": "application/json"} | more
        return httpx.post(f"{path}/{what}", content=content, headers=own)

    def release(request: ReleaseRequest, **more: str) -> Release:
        return Release.model_validate_json(post("releases", request, **more).raise_for_status().content)

    planned = post("plan", PlanRequest.model_validate({"statistic": MEAN, "accuracy": 5}))
    plan = DatasetPlan.model_validate_json(planned.raise_for_status().content)
    mean = ReleaseRequest.model_validate({"statistic": MEAN, "epsilon": "0.5"})
    releases = [release(mean, **{"Idempotency-Key": "datamodel-codegen"}) for _ in range(2)]
    releases.append(release(ReleaseRequest.model_validate({"statistic": HISTOGRAM, "epsilon": "0.25"})))
    releases.append(release(ReleaseRequest.model_validate({"statistic": HISTOGRAM, "epsilon": 0.25})))
    derived = {"derived": {"kind": "standard_deviation", "column": "x"}, "epsilon": "0.25"}
    answered = post("derived", DerivedRequest.model_validate(derived)).raise_for_status()
    deviation = DerivedAnswer.model_validate_json(answered.content)
    refused = post("releases", ReleaseRequest.model_validate({"statistic": MEAN, "epsilon": "9.5"}))
    refusal = BudgetExhausted.model_validate_json(refused.content)
    value = deviation.estimates["standard_deviation"].value
    told = {
        "planned": plan.privacy.epsilon,
        "releases": [[each.id, each.value.root] for each in releases],
        "derived": None if value is None else value.root,
        "remaining": refusal.remaining,
    }
    print(json.dumps(told))


main()
