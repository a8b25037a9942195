"""Makes a bar chart of a figure in Superset, which reads the figures' database.

Set SUPERSET_URL, SUPERSET_USER and SUPERSET_PASSWORD, and in FIGURES_DATABASE the figures' database as Superset
reaches it: postgresql+psycopg2://user:password@host/database. What exists already under its name is used again.

Run: python superset_chart.py DATASET FIGURE
"""

import json
import os
import sys
from typing import Any
from urllib.parse import quote

import httpx

DATABASE, SCHEMA, TABLE = "Snapledger's figures", "published", "figure_rows"


def main(dataset: str, figure: str) -> None:
    """Make the chart, and print its address."""
    with httpx.Client(base_url=os.environ["SUPERSET_URL"], timeout=120) as superset:
        sign_in(superset, os.environ["SUPERSET_USER"], os.environ["SUPERSET_PASSWORD"])
        connection = {"database_name": DATABASE, "sqlalchemy_uri": os.environ["FIGURES_DATABASE"]}
        database = find_or_make(superset, "database", "database_name", connection)
        table = {"table_name": TABLE, "schema": SCHEMA, "database": database}
        rows = find_or_make(superset, "dataset", "table_name", table)
        name = f"{dataset}: {figure}"
        chart = find_or_make(superset, "chart", "slice_name", describe_chart(name, rows, dataset, figure))
        print(superset.base_url.join(f"/explore/?slice_id={chart}"))


def ask(superset: httpx.Client, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what Superset answers, or end with the reason that it gives."""
    answer = superset.get(path) if body is None else superset.post(path, json=body)
    if answer.is_error:
        sys.exit(f"Superset refused {path}: {answer.text}")
    return dict(answer.json())


def sign_in(superset: httpx.Client, user: str, password: str) -> None:
    """Send Superset's tokens with each later request."""
    body = {"username": user, "password": password, "provider": "db"}
    access = ask(superset, "/api/v1/security/login", body)["access_token"]
    superset.headers.update({"Authorization": f"Bearer {access}", "Referer": str(superset.base_url)})
    superset.headers["X-CSRFToken"] = ask(superset, "/api/v1/security/csrf_token/")["result"]


def find_or_make(superset: httpx.Client, kind: str, column: str, body: dict[str, Any]) -> int:
    """Return the id of what has this name, and make it if there is none."""
    wanted = json.dumps({"filters": [{"col": column, "opr": "eq", "value": body[column]}]})
    found = ask(superset, f"/api/v1/{kind}/?q={quote(wanted)}")["ids"]
    return int(found[0] if found else ask(superset, f"/api/v1/{kind}/", body)["id"])


def describe_chart(name: str, rows: int, dataset: str, figure: str) -> dict[str, Any]:
    """Return a chart with a bar for each number of the figure, in their order."""

    def exactly(column: str, value: str) -> dict[str, Any]:
        return {"expressionType": "SIMPLE", "clause": "WHERE", "subject": column, "operator": "==", "comparator": value}

    def of(column: str) -> dict[str, Any]:
        sql = f"MAX({column})"  # each bar is one number
        return {"expressionType": "SQL", "sqlExpression": sql, "label": column, "optionName": f"metric_{column}"}

    bar = "concat_ws(' · ', \"group\", label)"
    form = {
        "datasource": f"{rows}__table",
        "viz_type": "echarts_timeseries_bar",
        "x_axis": {"expressionType": "SQL", "sqlExpression": bar, "label": "bar"},
        "metrics": [of("value")],
        "groupby": [],
        "adhoc_filters": [exactly("dataset", dataset), exactly("figure", figure)],
        "xAxisForceCategorical": True,
        "show_value": True,
        "show_legend": False,
        "y_axis_format": ",.2f",
        "row_limit": 10_000,
        "order_desc": False,
        "timeseries_limit_metric": of("position"),  # what the bars are sorted by
    }
    return {
        "slice_name": name,
        "viz_type": form["viz_type"],
        "datasource_id": rows,
        "datasource_type": "table",
        "params": json.dumps(form),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
