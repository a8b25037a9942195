"""Every cache is bounded by bytes, and its estimate of an entry is no less than what the entry takes."""

import ast
import gc
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gmpy2 import mpq

import app
from app.api.parameters import json_bodies
from app.api.schemas.planning import FreePlanRequest
from app.db.repositories.datasets import Dataset
from app.dp.statistics import build
from app.dp.table.sums import CellSums
from app.engines.backends import duckdb_engine
from app.engines.sql import cell_queries, shared_queries
from app.engines.storage import tables
from app.services.planning import columns, questions
from app.services.planning.questions import Question
from app.services.releasing import reuse
from app.services.releasing.reuse import EarlierRelease
from app.services.rendering import documents, summaries

N = 1_000
INTEGER = {"kind": "integer", "bounds": ["0", "1000000"], "nullable": False}
CATEGORIES = {"kind": "category", "categories": [f"{i:x}" for i in range(N)], "nullable": False}
DECLARED = json.dumps({"x": INTEGER, "k": CATEGORIES})
CONTENTS: list[dict[str, Any]] = [
    {"kind": "sum", "column": "x", "where": {"x": {"one_of": [str(300 + i) for i in range(N)]}}},
    {"kind": "count", "where": {"k": {"one_of": [f"{i:x}" for i in range(N)]}}},
    {"kind": "histogram", "column": "x", "edges": [mpq(i * i) for i in range(N)]},
    {"kind": "histogram", "column": "x", "edges": [mpq(f"{i * i + 1}e-99") for i in range(N)]},
    {"kind": "histogram", "column": "k"},
    {"kind": "mean", "column": "x"},
]


def dataset(place: int) -> Dataset:
    names = dict.fromkeys(Dataset._fields)
    facts = {"name": f"d{place}", "columns": DECLARED.replace("1000000", str(1_000_000 + place)), "n": 1_000}
    return Dataset(**{**names, **facts, "rows_per_unit": 1})


def question(statistic: dict[str, Any], place: int) -> Question:
    fresh = json.loads(json.dumps(statistic, default=str))  # texts of its own
    if "edges" in fresh:
        fresh["edges"] = [mpq(each) for each in fresh["edges"]]
    return Question(fresh, 1_000 + place, None, mpq(1, 20), mpq(1, 20), 0, reuse=True)


def bytes_taken(add: Callable[[int], Any]) -> float:
    """How many bytes each of a few entries takes that are made and left."""
    add(0)
    gc.freeze()  # so that only what is new is looked through
    tracemalloc.start()
    for place in range(1, 4):
        add(place)
    gc.collect()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken / 3


def assert_honest(cache: Any, add: Callable[[int], Any]) -> None:
    cache.clear()
    taken = bytes_taken(add)
    assert len(cache) == 4
    assert cache.currsize / 4 >= 0.9 * taken
    assert cache.maxsize <= 2**26
    cache.clear()


@pytest.mark.slow
@pytest.mark.parametrize("statistic", CONTENTS, ids=lambda each: each["kind"])
def test_plans_and_their_texts_take_no_more_than_estimated(statistic: dict[str, Any]) -> None:
    columns.decode_columns.cache.clear()
    one = dataset(0)

    def add(place: int) -> None:
        plan = questions.make_plan(one, question(statistic, place), 10**10)
        earlier = EarlierRelease(str(place), 1, plan.statistic.identity, plan.mechanism, plan.radius, None)
        for told in (plan, reuse.plan_reuse(earlier, plan)):
            summaries.summarise_plan(told)
            documents.accuracy_document(told)

    assert_honest(questions.make_plan.cache, add)
    assert_honest(
        documents.encode_common_members.cache,
        lambda place: documents.encode_common_members(
            one, questions.make_plan.__wrapped__(one, question(statistic, place), 10**10)
        ),
    )


def test_declarations_take_no_more_than_estimated() -> None:
    assert_honest(columns.decode_columns.cache, lambda place: columns.decode_columns(dataset(place).columns))


@pytest.mark.parametrize("value", ["1", '"a"', "1.5e99", "true"])
def test_bodies_take_no_more_than_estimated(value: str) -> None:
    where = '{"x":{"in":[' + ",".join([value] * N) + "]}}"

    def add(place: int) -> Any:
        text = f'{{"n":{place + 2},"epsilon":1,"statistic":{{"kind":"count","where":{where}}}}}'
        body = json_bodies._parse_body(FreePlanRequest, text.encode())
        return body.canonical, body.model.question.digest

    assert_honest(json_bodies._parse_body.cache, add)


def needs(place: int, statistic: dict[str, Any]) -> Any:
    declared = columns.decode_columns(dataset(place).columns)
    return build(question(statistic, place).statistic, declared, 1_000, 1).needs


@pytest.mark.slow
@pytest.mark.parametrize("statistic", CONTENTS[:2], ids=lambda each: each["kind"])
def test_queries_take_no_more_than_estimated(statistic: dict[str, Any]) -> None:
    def add(place: int) -> str:
        short = {
            **statistic,
            "where": {name: {"one_of": list(each["one_of"])[place:]} for name, each in statistic["where"].items()},
        }
        needed = needs(0, short)
        assert isinstance(needed, CellSums)
        return cell_queries.cells_query(needed, duckdb_engine._TABLE, "duckdb")

    assert_honest(cell_queries.cells_query.cache, add)
    assert shared_queries.build_shared_query.cache.maxsize <= 2**26


@pytest.mark.parametrize("statistic", CONTENTS, ids=lambda each: each["kind"])
def test_kept_sums_count_what_they_answer(statistic: dict[str, Any]) -> None:
    kept: dict[Any, Any] = {}

    def add(place: int) -> None:
        needed = needs(0, statistic)
        kept["f" * 32 + str(place), needed] = tuple(range(1_000, 2_000))

    taken = bytes_taken(add)
    assert all(tables._estimate_cached_bytes(key, answer) >= 0.9 * taken for key, answer in kept.items())


UNBOUNDED_BY_BYTES = {
    "app/json_text.py:_encode_name": "the names of members of answers, some dozens",
    "app/api/schemas/base.py:_member_names": "one for each model",
    "app/api/middleware/authentication.py:self._seen": "10,000 credentials",
    "app/api/middleware/call_counter.py:self._counts": "100,000 names with three numbers",
    "app/api/middleware/concurrency_limit.py:_network_of": "1,024 addresses",
    "app/api/middleware/slot_pool.py:self._callers": "10,000 hashes with names",
    "app/api/openapi/document.py:_read_document": "a file of ours",
    "app/api/openapi/examples.py:load_examples": "a file of ours",
    "app/dp/mechanism/accuracy.py:radius": "4,096 of a number, with parameters that are cached",
    "app/dp/mechanism/accuracy.py:tight_radius": "4,096 of a number, with parameters that are cached",
    "app/dp/mechanism/equal_noise_sums.py:noise_sum_quantile": "4,096 of a number",
    "app/dp/mechanism/equal_noise_sums.py:one_sided_sum_radius": "4,096 of a number, with parameters that are cached",
    "app/dp/mechanism/parameters.py:derive_parameters": "1,024 of a few kilobytes: numbers have at most 80 digits",
    "app/dp/mechanism/prefix_accuracy.py:prefix_radii": "256 of some numbers each, with parameters that are cached",
    "app/dp/mechanism/sum_accuracy.py:sum_radius": "4,096 of a number, with parameters that are cached",
    "app/dp/table/dates.py:zone_of": "the time zones that there are, some 600",
    "app/dp/numbers/exact.py:_decimals": "16 contexts",
    "app/services/identity/sign_on.py:self._renewals": "1,000 tasks",
    "app/db/clock.py:_format_second": "2 texts",
    "app/dp/numbers/exact.py:up": "256 contexts",
    "app/dp/numbers/exact.py:down": "256 contexts",
}
SMALL_MODULES = (
    "app/ledger/answers/releases.py",
    "app/ledger/budget_requests.py",
    "app/ledger/figure_collections.py",
    "app/ledger/figure_lists.py",
    "app/db/dialects/sqlite_library.py",
    "app/db/schema_migration.py",
)
"""Their keys are flags and numbers of ours."""


def test_every_cache_without_a_bound_of_bytes_is_small() -> None:
    found = set()
    root = Path(app.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                names = {ast.unparse(each).split("(")[0] for each in node.decorator_list}
                if names & {"cache", "lru_cache", "functools.cache", "functools.lru_cache"}:
                    found.add(f"{path.relative_to(root.parent)}:{node.name}")
            elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):  # of a library
                call = node.value
                sized = len(call.args) > 1 + (ast.unparse(call.func) == "TTLCache") or call.keywords
                if ast.unparse(call.func) in {"LRUCache", "TTLCache"} and not sized:
                    found.add(f"{path.relative_to(root.parent)}:{ast.unparse(node.target)}")
    unknown = {each for each in found if not each.startswith(SMALL_MODULES)} - set(UNBOUNDED_BY_BYTES)
    assert not unknown


def test_the_guide_adds_up_all_caches() -> None:
    page = (Path(app.__file__).parents[1] / "docs" / "operations.md").read_text("utf-8")
    stated = re.search(r"Every cache is bounded in bytes, per process: (\d+) MiB in total", page)
    assert stated is not None
    table = page[stated.end() :].split("\n\n")[1]
    amounts = re.findall(r"\| (?:(\d) × )?(\d+) MiB \|", table)
    assert sum(int(times or 1) * int(each) for times, each in amounts) == int(stated[1])
