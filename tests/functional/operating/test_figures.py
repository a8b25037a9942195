"""The known answers of the mechanism on the notes' grid and on the default grid, asked for over HTTP."""

from decimal import Decimal
from fractions import Fraction

import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv

MEAN = {"kind": "mean", "column": "x"}

# ε, n = 2B', γ = α, λ' over Δ, Λ', B, a: from the definition, in units of Δ.
PARAMETERS = [
    ("1", 100, "0.05", 1.0, 2, 56.99146454710800061587425, 3.995732273553991),
    ("1.000000001", 100, "0.05", 0.999999999000000001, 1, 56.99146454011653607575771, 3.4957322705582587),
    ("0.5", 200, "0.05", 2.0, 4, 113.9829290942160012317485, 7.991464547107982),
    ("0.1", 344, "0.05", 10.0, 16, 241.9146454710800061587425, 37.95732273553991),
    ("3", 10, "0.05", 1 / 3, 0.5, 7.330488182369333538624749, 1.248577424517997),
    ("0.000000001", 100, "0.05", 1e9, 1073741824, 6991464597.108000615874246, 3532603185.553991),
    ("0.7", 100, "0.01", 1 / 0.7, 2, 64.58620053139458563126271, 7.5788145514115591),
    ("10", 2, "0.05", 0.1, 0.125, 1.699146454710800061587425, 0.3620732273553991),
    ("0.333333333", 50, "0.05", 3.000000003000000003, 4, 45.97439366229839550992113, 10.98719682964917),
]

# wanted a in units of Δ, n, α, ε to the nano.
EPSILONS = [
    ("1", 100, "0.05", "3.994309699"),
    ("2", 100, "0.05", "1.99715485"),
    ("3.5", 100, "0.05", "1.000000001"),
    ("5", 100, "0.05", "0.748933069"),
    ("7", 100, "0.05", "0.500000001"),
    ("1.4", 100, "0.5", "1.000000001"),
    ("0.01", 100, "0.05", "372.285175743"),
    ("250", 1000, "0.05", "0.015625001"),
    ("10", 100, "0.01", "0.511685577"),
]


COUNT = {"kind": "count", "where": {"x": {"between": [0, 10]}}}
HISTOGRAM = {"kind": "histogram", "column": "x", "bins": 4}

# The same on the default grid at α = 0.05: with L = ln 20, ε is L/(a - Λ'/2048) for a mean and L/(a - 1/2) for a count,
# unless the notes' grid is finer than 1; twice that of a count for a histogram.
DEFAULT_EPSILONS = [
    (MEAN, "1", "2.996463833"),
    (MEAN, "2", "1.498231917"),
    (MEAN, "3.5", "0.856162392"),
    (MEAN, "5", "0.599263499"),
    (MEAN, "7", "0.428081196"),
    (MEAN, "20", "0.149815875"),
    (COUNT, "1", "3.994309699"),
    (COUNT, "2", "1.99715485"),
    (COUNT, "3.5", "0.998577425"),
    (COUNT, "5", "0.665718284"),
    (COUNT, "7", "0.460881889"),
    (COUNT, "20", "0.153627297"),
    (HISTOGRAM, "1", "7.988619397"),
    (HISTOGRAM, "2", "3.994309699"),
    (HISTOGRAM, "3.5", "1.99715485"),
    (HISTOGRAM, "5", "1.331436567"),
    (HISTOGRAM, "7", "0.921763777"),
    (HISTOGRAM, "20", "0.307254593"),
]


@pytest.fixture
def table_of(one_service: Service):
    def make(n: int) -> Table:
        return one_service.table({"x": {"kind": "integer", "bounds": [0, n]}}, numbers_csv(n))

    return make


@pytest.mark.parametrize(("epsilon", "n", "alpha", "scale", "grid", "bound", "radius"), PARAMETERS)
def test_the_figures_of_a_mean(table_of, epsilon, n, alpha, scale, grid, bound, radius) -> None:
    table, question = table_of(n), {"epsilon": epsilon, "alpha": alpha, "gamma": alpha}
    plan = table.plan(MEAN, **question, grid_refinement=0).json()
    mechanism = plan["mechanism"]
    assert mechanism["sensitivity"] == 1  # bounds [0, n]
    assert mechanism["centre"] == n / 2
    assert mechanism["b_prime"] == n / 2
    assert mechanism["epsilon_prime"] == pytest.approx(float(epsilon), rel=1e-9)
    assert mechanism["scale"] == pytest.approx(scale, rel=1e-9)
    assert mechanism["grid"] == grid
    assert mechanism["bound"] == pytest.approx(bound, rel=1e-9)
    assert mechanism["precision_bits"] == 118
    assert plan["accuracy"]["radius"] == pytest.approx(radius, rel=1e-9)
    assert Decimal(plan["privacy"]["epsilon"]) == Decimal(epsilon)
    finer = table.plan(MEAN, **question).json()
    assert finer["mechanism"] == mechanism | {"grid": grid / 1024, "grid_refinement": 10}
    assert finer["accuracy"]["radius"] == pytest.approx(radius - grid / 2 + grid / 2048, rel=1e-9)


@pytest.mark.parametrize(("accuracy", "n", "alpha", "epsilon"), EPSILONS)
def test_a_wanted_accuracy_costs_the_minimal_epsilon(table_of, accuracy, n, alpha, epsilon) -> None:
    assert_minimal(table_of(n), MEAN, {"alpha": alpha, "grid_refinement": 0}, accuracy, epsilon)


@pytest.mark.parametrize(("statistic", "accuracy", "epsilon"), DEFAULT_EPSILONS, ids=str)
def test_a_wanted_accuracy_costs_less_on_the_default_grid(table_of, statistic, accuracy, epsilon) -> None:
    assert_minimal(table_of(100), statistic, {}, accuracy, epsilon)


def assert_minimal(table: Table, statistic, question, accuracy, epsilon) -> None:
    plan = table.plan(statistic, accuracy=accuracy, **question).json()
    assert plan["privacy"]["epsilon"] == epsilon
    assert plan["accuracy"]["radius"] <= float(accuracy)
    one_less = Decimal(epsilon) - Decimal("1e-9")
    assert table.plan(statistic, epsilon=str(one_less), **question).json()["accuracy"]["radius"] > float(accuracy)


def test_the_example_of_the_contract(one_service: Service) -> None:
    table = one_service.table(
        {"body_mass_g": {"kind": "integer", "bounds": [2000, 7000]}}, numbers_csv(344, column="body_mass_g")
    )
    answer = table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="0.5", grid_refinement=0)
    assert answer["statistic"] == {"kind": "mean", "column": "body_mass_g", "bounds": [2000, 7000]}
    mechanism = answer["mechanism"]
    assert mechanism["sensitivity"] == pytest.approx(14.534883720930232, rel=1e-15)
    assert (mechanism["centre"], mechanism["b_prime"]) == (4500, 2500)
    assert mechanism["bound"] == pytest.approx(2703.2402484624417, rel=1e-12)
    assert mechanism["scale"] == pytest.approx(29.06976744186047, rel=1e-15)
    assert mechanism["grid"] == pytest.approx(58.13953488372093, rel=1e-15)
    accuracy = answer["accuracy"]
    assert accuracy["radius"] == pytest.approx(116.1550079521509, rel=1e-12)
    assert accuracy["tight_radius"] == pytest.approx(113.59147549669309, rel=1e-12)
    assert accuracy["resolution"] == pytest.approx(4.547473508864641e-13, rel=1e-12)
    assert answer["privacy"] == {"epsilon": "0.5", "neighbours": "replace_one", "rows_per_unit": 1, "n": 344}
    assert answer["budget"] == {"charged": "0.5", "dataset_remaining": "9.5", "allowance_remaining": "9.5"}
    lower, upper = accuracy["interval"]
    reach = accuracy["radius"] + accuracy["resolution"]
    assert lower == pytest.approx(max(answer["value_in_range"] - reach, 2000), rel=1e-12)
    assert upper == pytest.approx(min(answer["value_in_range"] + reach, 7000), rel=1e-12)


def test_tables_of_sensitivities(one_service: Service) -> None:
    columns = {"x": {"kind": "integer", "bounds": [0, 100]}, "y": {"kind": "decimal", "scale": 1, "bounds": [-10, 10]}}
    rows = "".join(f"{i},{i % 9}.{i % 7}\n" for i in range(101))
    table = one_service.table(columns, "x,y\n" + rows, rows_per_unit=1)
    n, h = 101, 50 * 51
    spread = Fraction(h, n * (n - 1))
    variance = table.plan({"kind": "variance", "column": "x"}, epsilon=1).json()["mechanism"]
    assert variance["sensitivity"] == pytest.approx(100**2 / n, rel=1e-15)
    assert variance["centre"] == pytest.approx(float(spread * 100**2 / 2), rel=1e-15)
    assert variance["b_prime"] == pytest.approx(float(spread * 100**2 / 2), rel=1e-15)
    covariance = table.plan({"kind": "covariance", "columns": ["x", "y"]}, epsilon=1).json()["mechanism"]
    assert covariance["sensitivity"] == pytest.approx(100 * 20 / n, rel=1e-15)
    assert covariance["centre"] == 0
    assert covariance["b_prime"] == pytest.approx(float(spread * 100 * 20), rel=1e-15)
    histogram = table.plan({"kind": "histogram", "column": "x", "bins": 4}, epsilon=1).json()
    mechanism = histogram["mechanism"]
    assert (mechanism["sensitivity"], mechanism["centre"], mechanism["b_prime"]) == (1, 50, 51)
    assert mechanism["epsilon_per_bin"] == 0.5
    assert [bin_["label"] for bin_ in histogram["bins"]] == ["[0, 25)", "[25, 50)", "[50, 75)", "[75, 100]", "missing"]


def test_rows_per_unit_multiplies_the_sensitivity(one_service: Service) -> None:
    columns = X_COLUMNS
    table = one_service.table(columns, numbers_csv(100), rows_per_unit=3)
    assert table.plan(MEAN, epsilon=1).json()["mechanism"]["sensitivity"] == 3
    assert table.plan({"kind": "histogram", "column": "x", "bins": 2}, epsilon="0.6").json()["mechanism"][
        "epsilon_per_bin"
    ] == pytest.approx(0.1)
