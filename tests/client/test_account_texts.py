"""A single entry, act, principal, request or figure shows itself in a notebook and a terminal, and no key."""

from typing import Any

import pytest

from snapledger_client import AuditRecord, BudgetRequest, Entry, Figure, GrantedAllowance, IssuedKey, Limit, Principal

AT = "2026-11-30T08:05:00.000000Z"
HOSTILE = "<img src=x>"
ENTRY: dict[str, Any] = {
    "seq": 3,
    "kind": "adjust",
    "principal": "ada",
    "epsilon": "0.500",
    "epsilon_spent": "1.5",
    "release_id": None,
    "at": AT,
    "previous_hash": "a" * 64,
    "hash": "b" * 64,
    "reason": "More rows.",
}
ACT: dict[str, Any] = {
    "seq": 2,
    "via": "service",
    "actor": None,
    "action": "principal.create",
    "target": "/v1/principals/ada",
    "details": {"role": "analyst", "issuer": None},
    "request_id": None,
    "at": AT,
    "previous_hash": None,
    "hash": "b" * 64,
    "secret_id": "c",
}
REQUEST: dict[str, Any] = {
    "id": "1",
    "dataset": "penguins",
    "principal": "ada",
    "display_name": HOSTILE,
    "epsilon": "0.5",
    "reason": "For the report.",
    "created_at": AT,
    "state": "open",
    "granted": None,
    "answer": None,
    "answered_by": None,
    "answered_at": None,
}
GRANTED = REQUEST | {
    "state": "granted",
    "granted": "0.25",
    "answered_by": "station",
    "answered_at": AT,
    "answer": "Now.",
}
PERSON: dict[str, Any] = {
    "name": "ada",
    "role": "analyst",
    "created_at": AT,
    "disabled": False,
    "key_expires_at": AT,
}
ROW: dict[str, Any] = {
    "measure": "mean",
    "columns": "body_mass_g",
    "group": None,
    "label": "mean",
    "lower_edge": None,
    "upper_edge": None,
    "value": 4209.3,
    "value_as_date": None,
    "interval_lower": 4093.1,
    "interval_upper": 4325.5,
    "alpha": 0.05,
    "unit": "g",
    "epsilon": "0.5",
    "released_at": AT,
}
FIGURE: dict[str, Any] = {
    "dataset": "penguins",
    "figure": "mass",
    "version": 2,
    "title": "Body mass",
    "note": "Adults.",
    "source": {},
    "published_by": "ada",
    "published_at": AT,
    "rows": [ROW],
}
SHOWN = {
    "entry": (
        Entry(**ENTRY),
        "entry 3: adjust by ada, ε = 0.500; 1.5 spent in total; 2026-11-30 08:05 UTC\nMore rows.",
    ),
    "act": (
        AuditRecord(**ACT),
        "act 2: principal.create of /v1/principals/ada by a service; 2026-11-30 08:05 UTC\nrole: analyst",
    ),
    "open request": (
        BudgetRequest(**REQUEST),
        f"{HOSTILE} (ada) asks for ε = 0.5 of penguins: For the report.\nopen since 2026-11-30 08:05 UTC",
    ),
    "granted request": (
        BudgetRequest(**GRANTED),
        (
            f"{HOSTILE} (ada) asks for ε = 0.5 of penguins: For the report.\n"
            "granted ε = 0.25 by station, 2026-11-30 08:05 UTC: Now."
        ),
    ),
    "principal": (Principal(**PERSON), "ada, analyst; the key expires at 2026-11-30 08:05 UTC"),
    "disabled": (Principal(**PERSON | {"disabled": True}), "ada, analyst; disabled"),
    "allowance": (
        GrantedAllowance(dataset="penguins", principal="ada", epsilon_limit="2", window_days=30),
        "ada may spend ε = 2 on penguins every 30 days",
    ),
    "limit": (
        Limit(dataset="penguins", epsilon_limit="10"),
        "ε = 10 may be spent on penguins in its whole life",
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_it_shows_itself(name: str) -> None:
    answer, text = SHOWN[name]
    assert str(answer) == repr(answer) == text
    assert HOSTILE not in answer._repr_html_()
    assert len(answer.to_frame()) == 1
    assert not any("hash" in column for column in answer.to_frame())


def test_a_new_key_is_shown_nowhere() -> None:
    issued = IssuedKey(**PERSON, key="s3cret")
    shown = (
        str(issued),
        repr(issued),
        issued._repr_html_(),
        issued.to_frame().to_string(),
        str(issued.__repr_args__()),
    )
    assert not any("s3cret" in text for text in shown)
    assert "`key` has the new key" in str(issued)


def test_a_figure_shows_its_numbers() -> None:
    lines = str(Figure(**FIGURE)).splitlines()
    assert lines[0] == "Body mass: figure mass of penguins, version 2; published by ada, 2026-11-30 08:05 UTC"
    unnamed = str(Figure(**FIGURE | {"published_by": None}))  # as viewers get it
    assert "version 2; published, 2026" in unnamed
    assert lines[1] == "Adults."
    assert lines[-1].split() == ["mean", "4,209", "g", "4,093", "to", "4,326"]
    frame = Figure(**FIGURE).to_frame()
    assert frame["interval_upper"].to_list() == [4325.5]
    several = Figure(**FIGURE | {"rows": [ROW, ROW | {"measure": "count", "value": None, "label": "count"}]})
    assert several._repr_html_().count("<th") == 4
    listed = Figure(**{name: value for name, value in FIGURE.items() if name != "rows"})
    assert str(listed).splitlines() == lines[:2]
    assert listed.to_frame()["title"].to_list() == ["Body mass"]


def test_a_figure_of_dates_shows_the_interval_as_dates() -> None:
    dates = {"value_as_date": "2024-07-03", "interval_lower_as_date": "2024-07-02", "interval_upper_as_date": None}
    row = ROW | {"unit": "days", "value": 19907.4} | dates | {"interval_upper_as_date": "2024-07-05"}
    figure = Figure(**FIGURE | {"rows": [row]})
    assert str(figure).splitlines()[-1].split() == ["mean", "2024-07-03", "2024-07-02", "to", "2024-07-05"]
    assert "days" not in figure.plot().get_xlabel()
    unbounded = dict.fromkeys(("interval_lower", "interval_upper", "interval_lower_as_date", "interval_upper_as_date"))
    assert str(Figure(**FIGURE | {"rows": [row | unbounded]})).splitlines()[-1].split()[1:] == [
        "2024-07-03",
        "anything",
    ]
    before = ROW | {"value_as_date": "2024-07-03"}  # an earlier version of the service told no dates of intervals
    assert str(Figure(**FIGURE | {"rows": [before]})).splitlines()[-1].split() == ["mean", "2024-07-03"]


def test_a_figure_tells_which_rows_and_values_its_numbers_are_of() -> None:
    rule = "values outside 0 to 50,000 count as the nearer bound"
    same = Figure(**FIGURE | {"rows": [ROW | {"conditions": rule}, ROW | {"label": "other", "conditions": rule}]})
    assert str(same).count(rule) == same._repr_html_().count(rule) == 1
    assert same.to_frame()["conditions"].to_list() == [rule, rule]
    varied = Figure(**FIGURE | {"rows": [ROW | {"conditions": each} for each in ("region in West", "")]})
    assert "region in West" in str(varied).splitlines()[-2]
    assert [each.get_text() for each in varied.plot().get_yticklabels()] == ["mean", "mean, region in West"]


def test_a_figure_draws_each_measure() -> None:
    count = ROW | {"measure": "count", "columns": "species", "label": "Adelie", "unit": None}
    dated = ROW | {"measure": "median", "value": 19790.0, "value_as_date": "2024-03-08", "interval_upper": None}
    rows = [ROW, count, count | {"label": "Gentoo", "group": "Dream"}, dated]
    drawn = Figure(**FIGURE | {"rows": rows}).plot()
    assert [len(axes.patches) for axes in drawn] == [0, 2, 0]
    assert [each.get_text() for each in drawn[1].get_xticklabels()] == ["Adelie", "Dream, Gentoo"]
    assert [each.get_text() for each in drawn[2].get_xticklabels()] == ["2024-03-08"]
    single = Figure(**FIGURE).plot()
    assert Figure(**FIGURE).plot(single) is single
    with pytest.raises(ValueError, match="several measures"):
        Figure(**FIGURE | {"rows": rows}).plot(single)
    unknown = ROW | {"value": None, "interval_lower": None, "interval_upper": None}
    for rows, reason in ((None, "read it"), ([unknown], "nothing is known"), ([ROW] * 201, "too many")):
        with pytest.raises(ValueError, match=reason):
            Figure(**FIGURE | {"rows": rows}).plot()
