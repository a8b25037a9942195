"""What analysts see of answers: nothing lost, nothing that injects, every figure where it belongs."""

import copy
import json
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from snapledger_client import (
    Batch,
    BatchPlan,
    Budget,
    DatasetFacts,
    Derived,
    DerivedPlan,
    Estimate,
    FreePlan,
    Histogram,
    Me,
    Plan,
    Release,
)
from snapledger_client.display.plots import MAX_BARS
from snapledger_client.display.svg import RIGHT, WIDTH
from snapledger_client.display.text import describe_cliff
from snapledger_client.formatting import REHEARSAL, format_interval, format_radius
from snapledger_client.models.listing import BaseListing
from snapledger_client.models.releases import parse_release

STORY = json.loads((files("app.api.openapi") / "examples.json").read_text())
ESTIMATE = next(e["response"] for e in STORY if e["path"].endswith("/releases") and e["status"] == 201)
PLANS = [e["response"] for e in STORY if e["path"].endswith("{name}/plan")]
HOSTILE = "<img src=x onerror=alert(1)>\"'&"


def histogram_of(counts: list[float], labels: list[str] | None = None) -> dict[str, Any]:
    """A histogram's answer, made from the estimate's."""
    document = copy.deepcopy(ESTIMATE)
    document["statistic"] = {"kind": "histogram", "column": "x", "edges": [0, 1]}
    document["value"] = document["value_in_range"] = counts
    document["value_exact"] = [str(count) for count in counts]
    document["accuracy"] |= {
        "interval": [[max(c - 2, 0), c + 2] for c in counts],
        "simultaneous_radius": 3,
        "radius": 2,
    }
    if labels is None:
        return document | {"bins": None, "edges": list(range(len(counts)))}  # the last one is `missing`
    return document | {"bins": [{"kind": "category", "label": label} for label in labels]}


def read(document: dict[str, Any]) -> Release:
    return parse_release(json.dumps(document).encode())


class Tags(HTMLParser):
    """The tags of a text, and whether they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += [name for name, _ in attrs]


def shown(answer: Any) -> str:
    """What a notebook shows, which is well-formed."""
    text = answer._repr_html_()
    ET.fromstring(text)  # noqa: S314 - our own
    return text


@pytest.mark.parametrize("document", [ESTIMATE, histogram_of([1, 2.5], ["a", "b"]), histogram_of([1, 2, 3])])
def test_a_release_keeps_all_that_was_answered(document: dict[str, Any]) -> None:
    later = document | {"of_a_later_version": {"a": [1, None]}}
    assert read(later).to_dict() == later


@pytest.mark.parametrize("document", PLANS)
def test_a_plan_keeps_all_that_was_answered(document: dict[str, Any]) -> None:
    assert Plan.parse(json.dumps(document).encode()).to_dict() == document


def test_small_numbers_keep_their_text_and_whole_seconds_theirs() -> None:
    document = copy.deepcopy(ESTIMATE) | {"created_at": "2026-11-28T01:12:44.000000Z", "value_exact": "0.00000000001"}
    document["privacy"]["epsilon"] = "0.000000001"
    assert read(document).to_dict() == document


def test_answers_are_frozen() -> None:
    with pytest.raises(ValidationError):
        read(ESTIMATE).id = "another"


def test_the_interval_and_the_summary() -> None:
    estimate = read(ESTIMATE)
    assert isinstance(estimate, Estimate)
    assert estimate.interval == tuple(ESTIMATE["accuracy"]["interval"])
    error = f"{ESTIMATE['value_in_range']:,.0f} ± 88 (95 %)"
    told = f"mean of body_mass_g: {error}; ε = 0.5 paid; 1.5 of your allowance and 9.5 of the dataset's"
    assert str(estimate).startswith(told)
    assert estimate.summary == ESTIMATE["summary"]
    free = copy.deepcopy(ESTIMATE) | {"reused": True}
    assert "at no cost" in str(read(free))


def test_a_notebook_shows_value_error_cost_and_rest() -> None:
    text = shown(read(ESTIMATE))
    for told in ("mean of body_mass_g", " ± 88 (95 %)", "ε = 0.5 paid", "9.5 of the dataset", "<svg"):
        assert told in text
    circle = next(element for element in ET.fromstring(text).iter() if element.tag == "circle")  # noqa: S314
    share = (ESTIMATE["value_in_range"] - 2000) / 5000  # of the statistic's public range
    assert float(circle.attrib["cx"]) == pytest.approx(16 + (WIDTH - 16 - RIGHT) * share, abs=0.1)


def test_a_histogram_is_drawn_with_its_error_bars() -> None:
    histogram = read(histogram_of([10, 0, 40], ["a", "b", "c"]))
    text = shown(histogram)
    bars = list(ET.fromstring(text).iter("rect"))  # noqa: S314
    heights = [float(bar.attrib["height"]) for bar in bars]
    assert heights[1] == 0
    assert heights[2] == pytest.approx(4 * heights[0], rel=0.01)
    titles = [bar.find("title") for bar in bars]
    assert [None if title is None else title.text for title in titles] == [
        "a: 10 (8 to 12)",
        "b: 0 (0 to 2)",
        "c: 40 (38 to 42)",
    ]
    axis = [each.text for each in ET.fromstring(text).iter("text")]  # noqa: S314
    assert {"a", "b", "c", "0", "10", "20", "30", "40", "x", "rows"} <= set(axis)


def test_a_million_bins_are_a_drawing_of_a_few() -> None:
    counts = [1.0] * 100_000
    text = shown(read(histogram_of(counts)))
    assert len(text) < 60_000
    bars = Tags(text).seen.count("rect")
    assert bars == MAX_BARS
    assert "500 bins from here on" in text


def test_edges_name_the_bins_where_there_are_many() -> None:
    histogram = read(histogram_of([1, 2, 3]))
    assert isinstance(histogram, Histogram)
    assert histogram.labels == ["[0, 1)", "[1, 2]", "missing"]


BY_PATH = {(e["path"], e["status"]): e["response"] for e in STORY}
DERIVED = BY_PATH["/v1/datasets/{name}/derived", 201]


def with_axes() -> dict[str, Any]:
    """A filtered two-way table."""
    document = histogram_of([1, 2, 3, 4, 5, 6, 7], ["outside"])
    labels = (["s", "t"], [HOSTILE, "b", "missing"])
    axes = [{"bins": [{"kind": "category", "label": label} for label in each]} for each in labels]
    statistic = {"kind": "histogram", "columns": ["k", "l"], "where": {"x": {"between": [0, 1]}}}
    return document | {"axes": axes, "statistic": statistic}


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        (Batch, BY_PATH["/v1/datasets/{name}/batches", 201]),
        (BatchPlan, BY_PATH["/v1/datasets/{name}/batches/plan", 200]),
        (DerivedPlan, BY_PATH["/v1/datasets/{name}/derived/plan", 200]),
        (Derived, DERIVED),
        (FreePlan, BY_PATH["/v1/plan", 200]),
        (Histogram, with_axes()),
    ],
)
def test_every_answer_keeps_all_that_was_answered(kind: Any, document: dict[str, Any]) -> None:
    later = document | {"of_a_later_version": {"a": [1, None]}}
    answer = kind.parse(json.dumps(later).encode())
    assert answer.to_dict() == later
    assert shown(answer)
    assert str(answer)


def test_a_two_way_table_has_rows_and_columns() -> None:
    table = read(with_axes())
    assert isinstance(table, Histogram)
    assert table.labels == ["s, " + HOSTILE, "s, b", "s, missing", "t, " + HOSTILE, "t, b", "t, missing", "outside"]
    frame = table.to_table()
    assert frame.loc["t"].tolist() == [4, 5, 6]
    assert frame.columns.to_list() == [HOSTILE, "b", "missing"]
    assert len(table.to_frame()) == 7
    assert str(table).startswith("histogram of k and l where x between 0 and 1: 7 bins")
    with pytest.raises(ValueError, match="two-way table"):
        read(histogram_of([1, 2, 3])).to_table()  # type: ignore[attr-defined]


def derived_of(value: Any, interval: Any, **more: Any) -> Derived:
    document = copy.deepcopy(DERIVED) | {"estimates": {"quantile": {"value": value, "interval": interval}}} | more
    return Derived.parse(json.dumps(document).encode())


def test_what_follows_may_not_be_known() -> None:
    nothing = derived_of(None, [None, None])
    assert (nothing.value, nothing.interval) == (None, (None, None))
    assert "no value (anything)" in str(nothing)
    half = derived_of([1.5, 2], [[None, 2], [1, None]], derived={"kind": "quantile", "probabilities": [0.25, 0.5]})
    assert [line.split(maxsplit=2) for line in str(half).splitlines()[-2:]] == [
        ["0.25", "1.5", "at most 2"],
        ["0.5", "2", "at least 1"],
    ]
    frame = half.to_frame()
    assert frame["of"].to_list() == [0.25, 0.5]
    assert frame["lower"].isna().to_list() == [True, False]
    line = copy.deepcopy(DERIVED)
    line["estimates"] = {name: {"value": 1, "interval": [0, 2]} for name in ("slope", "intercept")}
    with pytest.raises(ValueError, match="slope and intercept"):
        _ = Derived.parse(json.dumps(line).encode()).value


def test_a_plan_of_somebody_without_an_allowance() -> None:
    """Owners plan before they grant themselves one."""
    plan = copy.deepcopy(PLANS[0])
    plan["budget"] |= {"allowance_remaining": None, "affordable": False}
    told = Plan.parse(json.dumps(plan).encode())
    assert "more than you have left" in str(told)
    assert "more than you have left" in shown(told)


def test_a_curve_is_drawn_and_framed() -> None:
    curve = [
        {"epsilon": f"{0.1 * 2**i:.9f}", "radius": 8 / 2**i, "tight_radius": 7 / 2**i, "cliff": i == 2}
        for i in range(5)
    ]
    bias = {"guess": 1, "at_guess": 0.5, "largest": 2}
    plan = FreePlan.parse(json.dumps(copy.deepcopy(BY_PATH["/v1/plan", 200]) | {"curve": curve, "bias": bias}).encode())
    text = shown(plan)
    (line,) = [each for each in ET.fromstring(text).iter() if each.tag == "polyline"]  # noqa: S314
    places = [tuple(map(float, each.split(","))) for each in line.attrib["points"].split()]
    assert places == sorted(places)  # both by their logarithms: a straight line, downwards
    assert len(places) == 5
    assert "bias at 1: 0.5; at most ± 2" in text
    assert plan.to_frame()["cliff"].to_list() == [False, False, True, False, False]
    without = copy.deepcopy(BY_PATH["/v1/plan", 200])
    without.pop("curve", None)
    plain = FreePlan.parse(json.dumps(without).encode())
    assert plain.to_frame()["radius"].to_list() == [plain.accuracy.radius]
    with pytest.raises(ValueError, match="no curve"):
        plain.plot()


@pytest.mark.parametrize(
    ("epsilon", "radius", "cliff", "told"),
    [
        ("0.5", 131, ("0.500000001", 115), "ε = 0.500000001 is a better buy than an ε just below it"),
        ("1", 3.496, ("2.000000001", 1.748), ""),  # half the error for twice the ε is no better
    ],
)
def test_a_cliff_is_told_if_it_gains_more_than_it_costs(
    epsilon: str, radius: float, cliff: tuple[str, float], told: str
) -> None:
    document = copy.deepcopy(PLANS[0])
    document["accuracy"]["radius"], document["privacy"]["epsilon"] = radius, epsilon
    document["cliff"] = {"epsilon": cliff[0], "accuracy": cliff[1]}
    plan = Plan.model_validate(document)
    assert describe_cliff(plan) == (f"{told}: the error drops to ± 115" if told else "")
    assert ("better buy" in shown(plan)) == bool(told)


def test_units_and_labels_are_shown() -> None:
    texts = {"columns": {"income": {"label": "Household income", "unit": "€"}}}
    estimate = copy.deepcopy(ESTIMATE) | texts | {"unit": "€", "value_in_range": 7.0}
    released = read(estimate)
    assert " € (95 %)" in str(released)
    assert "income: Household income (€)" in shown(released)
    plan = Plan.model_validate(copy.deepcopy(PLANS[0]) | {"unit": "€"})
    assert " € (95 %)" in str(plan)
    assert " € (95 %)" in shown(plan)
    spread = copy.deepcopy(DERIVED) | texts | {"units": dict.fromkeys(DERIVED["estimates"], "€²")}
    for text in (str(Derived.model_validate(spread)), shown(Derived.model_validate(spread))):
        assert " €² (" in text
        assert " €²)" in text


def test_categories_have_the_titles_of_their_owner() -> None:
    document = histogram_of([1, 2, 3], ["n", "other", "other"])
    document["bins"] = [{"kind": "category", "label": each} for each in ("n", "other")] + [
        {"kind": "other", "label": "other"}
    ]
    document["columns"] = {document["statistic"]["column"]: {"category_labels": {"n": "North", "other": "Abroad"}}}
    histogram = read(document)
    assert isinstance(histogram, Histogram)
    assert histogram.labels == ["n", "other", "other"]
    assert histogram.titles == ["North", "Abroad", "other"]
    assert "North: 1" in shown(histogram)
    two_way = with_axes()
    two_way["columns"] = {two_way["statistic"]["columns"][0]: {"category_labels": {"s": "South"}}}
    table = read(two_way)
    assert isinstance(table, Histogram)
    assert table.titles[0] == f"South, {HOSTILE}"


def test_no_text_injects() -> None:
    document = histogram_of([1, 2], [HOSTILE, HOSTILE])
    document["columns"] = {"x": {"label": HOSTILE, "unit": HOSTILE}}
    document["statistic"]["column"] = document["dataset"] = HOSTILE
    estimate = copy.deepcopy(ESTIMATE) | {"dataset": HOSTILE}
    estimate["statistic"]["column"] = HOSTILE
    plan = copy.deepcopy(PLANS[0]) | {"dataset": HOSTILE}
    plan["statistic"]["column"] = HOSTILE
    figures = {"epsilon_limit": "0", "epsilon_spent": "0", "epsilon_remaining": "0"}
    budget = figures | {"allowance": None, "allowances": [figures | {"window": None, "principal": HOSTILE}]}
    hostile = copy.deepcopy(DERIVED) | {"dataset": HOSTILE}
    hostile["derived"]["columns"] = [HOSTILE, "x"]
    answers = [read(document), read(estimate), Plan.model_validate(plan), Budget.model_validate(budget)]
    answers += [Derived.model_validate(hostile), read(with_axes())]
    for answer in answers:
        tags = Tags(shown(answer))
        assert "img" not in tags.seen
        assert not [name for name in tags.attributes if name.startswith("on") or name in {"src", "href"}]
        assert "onerror" in shown(answer)


def test_frames() -> None:
    estimate, histogram = read(ESTIMATE), read(histogram_of([1, 2], ["a", "b"]))
    assert isinstance(estimate, Estimate)
    assert isinstance(histogram, Histogram)
    row = estimate.to_frame().iloc[0]
    assert (row["value"], row["lower"], row["upper"]) == (ESTIMATE["value_in_range"], *estimate.interval)
    expected = pd.DataFrame({"bin": ["a", "b"], "value": [1.0, 2.0], "lower": [0.0, 0.0], "upper": [3.0, 4.0]})
    pd.testing.assert_frame_equal(histogram.to_frame(), expected)


def test_what_a_frame_needs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    with_curve = next(each for each in STORY if each["path"].endswith("/plan") and "curve" in each.get("response", {}))
    plan = FreePlan.parse(json.dumps(with_curve["response"]).encode())
    frames = [read(ESTIMATE).to_frame, read(histogram_of([1, 2], ["a", "b"])).to_frame, read(with_axes()).to_table]
    for frame in (*frames, Derived.model_validate(DERIVED).to_frame, plan.to_frame):
        with pytest.raises(ImportError, match="pip install pandas"):
            frame()


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        ([1950, 1975, 2000], ["[1950, 1975)", "[1975, 2000]"]),
        ([0, 0.1, 1234567], ["[0, 0.1)", "[0.1, 1234567]"]),
        ([-1e100, 0.25, 1e16], ["[-1e+100, 0.25)", "[0.25, 1e+16]"]),
    ],
)
def test_edges_are_told_whole_and_without_separators(edges: list[float], labels: list[str]) -> None:
    histogram = read(histogram_of([1] * (len(edges) - 1)) | {"edges": edges})
    assert isinstance(histogram, Histogram)
    assert histogram.labels == labels


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (87.0000001, "± 88 (95 %)"),
        (87.0, "± 87 (95 %)"),
        (8.7001, "± 8.8 (95 %)"),
        (50.0, "± 50 (95 %)"),
        (999999.5, "± 1,000,000 (95 %)"),
        (1234567.2, "± 1,234,568 (95 %)"),
        (1.0000001e-9, "± 0.0000000011 (95 %)"),
        (0.1, "± 0.10 (95 %)"),
        (1e-20, "± 1e-20 (95 %)"),
    ],
)
def test_a_radius_is_never_rounded_down(number: float, told: str) -> None:
    assert format_radius(number, 0.05) == told


def test_an_interval_is_rounded_outwards() -> None:
    assert format_interval(-1.2345678, 1.2345671) == "-1.3 to 1.3"
    assert format_interval(35.5, 48.49, whole=True) == "35 to 49"
    assert format_interval(1.2345671, None) == "at least 1.23456"
    assert format_interval(None, -1.2345671) == "at most -1.23456"
    assert format_interval(None, None) == "anything"


def record(path: str, status: int = 200) -> dict[str, Any]:
    return copy.deepcopy(BY_PATH[path, status])


def quantiles(count: int) -> Derived:
    probabilities = [round((at + 1) / (count + 1), 3) for at in range(count)]
    derived = {"kind": "quantile", "column": "x", "bounds": [0, 10], "probabilities": probabilities}
    values = [float(at) for at in range(count)]
    return derived_of(values, [[value - 0.5, value + 0.5] for value in values], derived=derived)


def test_quantiles_are_a_table_and_a_band() -> None:
    answer = quantiles(5)
    assert "0.167" in str(answer)
    assert "2.00  1.50 to 2.50" in str(answer)
    assert repr(answer) == str(answer)
    tags = Tags(shown(answer))
    assert {"polygon", "polyline", "table"} <= set(tags.seen)
    assert len(answer.to_frame()) == 5


def test_what_is_one_number_is_a_float() -> None:
    estimate = read(ESTIMATE)
    assert isinstance(estimate, Estimate)
    assert float(estimate) == ESTIMATE["value_in_range"]
    median = derived_of([2.5], [[2, 3]], derived={"kind": "quantile", "column": "x", "probabilities": [0.5]})
    assert float(median) == 2.5
    assert str(median).startswith("median of x: 2.50 (2.00 to 3.00)")
    assert "<svg" in shown(median)
    with pytest.raises(ValueError, match="5 numbers"):
        float(quantiles(5))
    with pytest.raises(ValueError, match="interval"):
        float(derived_of(None, [None, None]))
    with pytest.raises(TypeError):
        float(read(histogram_of([1, 2, 3])))  # type: ignore[arg-type]


def test_a_two_way_table_is_shown_as_one() -> None:
    table = read(with_axes())
    assert [line.split()[-3:] for line in str(table).splitlines()[-2:]] == [["1", "2", "3"], ["4", "5", "6"]]
    (element,) = ET.fromstring(shown(table)).iter("table")  # noqa: S314
    assert [[cell.text for cell in row] for row in element][2][1:] == ["4", "5", "6"]


def test_a_regression_names_its_variables() -> None:
    derived = {"kind": "regression", "columns": ["x", "y"], "bounds": [[0, 10], [0, 100]]}
    estimates = {"slope": {"value": 2, "interval": [1, 3]}, "intercept": {"value": 5, "interval": [4, 6]}}
    line = Derived.model_validate(copy.deepcopy(DERIVED) | {"derived": derived, "estimates": estimates})
    assert str(line).startswith("regression of y on x: slope 2.0 (1.0 to 3.0), intercept 5.0 (4.0 to 6.0), 95 %")
    for told in ("regression of y on x", "change of y for 1 more of x", "y at x = 0"):
        assert told in shown(line)
    assert "polyline" in Tags(shown(line)).seen


def test_long_tables_are_cut_and_say_so() -> None:
    histogram = read(histogram_of([1.0] * 100))
    assert str(histogram).endswith("… and 76 more: to_frame() has all")
    assert "100 rows" in shown(histogram)
    assert "… and 40 more" in shown(histogram)


FRAMES = [
    (Batch, record("/v1/datasets/{name}/batches", 201)),
    (BatchPlan, record("/v1/datasets/{name}/batches/plan")),
    (DerivedPlan, record("/v1/datasets/{name}/derived/plan")),
    (Derived, DERIVED),
    (FreePlan, record("/v1/plan")),
    (Budget, record("/v1/datasets/{name}/budget")),
    (Me, record("/v1/me")),
    (DatasetFacts, record("/v1/datasets/{name}")),
    (Histogram, with_axes()),
    (Estimate, ESTIMATE),
]


@pytest.mark.parametrize(("kind", "document"), FRAMES)
def test_every_answer_shows_itself_and_has_a_frame(kind: Any, document: dict[str, Any]) -> None:
    answer = kind.parse(json.dumps(document).encode())
    assert len(answer.to_frame())
    assert repr(answer) == str(answer)
    assert f"{kind.__name__}(" not in repr(answer)
    assert "<pre" not in shown(answer)


def test_a_batch_has_a_row_for_each_number() -> None:
    batch = Batch.parse(json.dumps(FRAMES[0][1]).encode())
    frame = batch.to_frame()
    numbers = [len(each.value) if isinstance(each, Histogram) else 1 for each in batch.items]
    assert frame["item"].value_counts(sort=False).to_list() == numbers
    assert {"statistic", "bin", "value", "lower", "upper", "epsilon", "charged"} <= set(frame.columns)


def test_a_plot_without_matplotlib_is_svg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for answer in (read(ESTIMATE), read(histogram_of([1, 2, 3])), read(with_axes()), quantiles(5)):
        drawing = answer.plot()
        assert ET.fromstring(drawing.svg).tag == "svg"  # noqa: S314
        assert drawing._repr_html_() == drawing.svg
    with pytest.raises(ValueError, match="nothing to plot"):
        Budget.model_validate(FRAMES[5][1]).plot()


class Axes:
    """Stands for axes of matplotlib, and keeps what is drawn on them."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **_: self.drawn.append((name, arguments))


def test_a_plot_is_drawn_on_given_axes() -> None:
    axes = Axes()
    assert read(histogram_of([10, 0, 40], ["a$x", "b", "c"])).plot(axes) is axes
    assert [arguments[1] for name, arguments in axes.drawn if name == "bar"] == [10, 0, 40]
    assert ("set_ylabel", ("rows",)) in axes.drawn
    ticks = next(arguments for name, arguments in axes.drawn if name == "set_xticks")
    assert ticks[1] == [r"a\$x", "b", "c"]  # a label is no mathematics


def test_a_rehearsal_is_marked_wherever_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    rehearsed = {"rehearsed": True}
    batch = copy.deepcopy(FRAMES[0][1]) | rehearsed | {"summary": f"{REHEARSAL}: 3 releases are free."}
    batch["items"] = [each | rehearsed for each in batch["items"]]
    answers = [
        read(ESTIMATE | rehearsed),
        read(histogram_of([1, 2]) | rehearsed),
        Derived.model_validate(DERIVED | rehearsed),
    ]
    for answer in [*answers, Batch.parse(json.dumps(batch).encode())]:
        assert REHEARSAL in shown(answer)
        assert REHEARSAL in answer.plot().svg
        assert answer.to_frame()["rehearsed"].all()
        assert REHEARSAL in str(answer)
    assert "rehearsed" not in read(ESTIMATE).to_frame().columns


def test_what_is_too_much_for_a_picture_is_a_table() -> None:
    cells = 60 * 60
    axis = {"bins": None, "edges": list(range(61))}
    two_way = histogram_of([1.0] * cells) | {"axes": [axis, axis], "edges": None}
    two_way["statistic"] = {"kind": "histogram", "columns": ["x", "y"]}
    table = read(two_way)
    with pytest.raises(ValueError, match="3,600 cells are too many"):
        table.plot()
    assert "<svg" not in shown(table)
    assert "[0, 1), [59, 60]" in shown(table)
    many = {"kind": "cumulative", "column": "x"}
    counts = [float(at) for at in range(5_000)]
    curve = derived_of(counts, [[at, at + 1] for at in counts], derived=many, edges=counts)
    (line,) = [each for each in ET.fromstring(shown(curve)).iter() if each.tag == "polyline"]  # noqa: S314
    assert len(line.attrib["points"].split()) == 1_000


def test_no_description_or_list_injects() -> None:
    facts = copy.deepcopy(FRAMES[7][1]) | {"description": HOSTILE, "name": HOSTILE}
    facts["columns"][HOSTILE] = {"kind": "category", "categories": [HOSTILE], "label": HOSTILE, "unit": HOSTILE}
    described = DatasetFacts.model_validate(facts)
    listed: BaseListing[Any] = BaseListing("datasets")
    listed._ahead.extend([described, read(ESTIMATE | {"dataset": HOSTILE})])
    derived = {"kind": "regression", "columns": [HOSTILE, "y"], "bounds": [[0, 1], [0, 1]]}
    estimates = {name: {"value": 1, "interval": [0, 2]} for name in ("slope", "intercept")}
    line = Derived.model_validate(copy.deepcopy(DERIVED) | {"derived": derived, "estimates": estimates})
    for answer in (described, listed, line):
        assert "onerror" in shown(answer)
        assert "img" not in Tags(shown(answer)).seen


def test_a_list_is_shown_without_being_read_away() -> None:
    facts = DatasetFacts.model_validate(FRAMES[7][1])
    listed: BaseListing[Any] = BaseListing("datasets")
    listed._ahead.append(facts)
    assert facts.name in str(listed)
    assert facts.name in shown(listed)
    assert list(listed._ahead) == [facts]
    assert "to_frame()" in repr(listed)
