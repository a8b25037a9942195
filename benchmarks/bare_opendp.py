"""The baseline of `morning.py`: FastAPI over OpenDP's Laplace mechanism, with a durable debit in Postgres per release.

It keeps the table in memory and its releases in a dictionary of each process. `BARE_DATABASE` is the database's URL.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

import opendp.prelude as dp
import psycopg
from fastapi import FastAPI
from pydantic import BaseModel

dp.enable_features("contrib")
ROWS = [float(number % 101) for number in range(344)]
CONNECTIONS = 16

idle: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()
known: dict[str, float] = {}


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    for _number in range(CONNECTIONS):
        idle.put_nowait(await psycopg.AsyncConnection.connect(os.environ["BARE_DATABASE"], autocommit=True))
    yield
    while not idle.empty():
        await idle.get_nowait().close()


app = FastAPI(lifespan=lifespan)
with psycopg.connect(os.environ["BARE_DATABASE"], autocommit=True) as administration:
    administration.execute("SELECT pg_advisory_lock(1)")  # all workers start at the same time
    administration.execute("CREATE TABLE IF NOT EXISTS budget (epsilon NUMERIC NOT NULL)")
    administration.execute("CREATE TABLE IF NOT EXISTS debits (id BIGSERIAL PRIMARY KEY, body TEXT)")
    administration.execute("INSERT INTO budget SELECT 1000000 WHERE NOT EXISTS (SELECT 1 FROM budget)")

DEBIT = (
    "WITH debit AS (UPDATE budget SET epsilon = epsilon - %s::numeric WHERE epsilon >= %s::numeric RETURNING epsilon) "
    "INSERT INTO debits (body) SELECT %s FROM debit"
)


class Question(BaseModel):
    """The body of a plan or a release."""

    statistic: dict[str, Any]
    epsilon: str
    alpha: float = 0.05
    reuse: bool = True


@lru_cache(1024)
def measurement(bounds: tuple[float, float], epsilon: str) -> tuple[dp.Measurement, float]:
    """Return OpenDP's measurement of a mean, and its noise scale."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(ROWS)), dp.symmetric_distance()
    mean = space >> dp.t.then_clamp(bounds) >> dp.t.then_mean()
    scale = mean.map(2) / float(epsilon)
    return mean >> dp.m.then_laplace(scale=scale), scale


def _of(question: Question) -> tuple[dp.Measurement, float]:
    least, most = question.statistic["bounds"]
    return measurement((float(least), float(most)), question.epsilon)


@app.post("/plan")
async def plan(question: Question) -> dict[str, Any]:
    """Return what a release would promise."""
    _, scale = _of(question)
    return {"epsilon": question.epsilon, "radius": dp.laplacian_scale_to_accuracy(scale, question.alpha)}


@app.post("/releases")
async def release(question: Question) -> dict[str, Any]:
    """Return an earlier release, or draw a new one and debit it."""
    identity = json.dumps(question.statistic, sort_keys=True)
    if question.reuse and identity in known:
        return {"value": known[identity], "reused": True}
    measure, scale = _of(question)
    value = measure(ROWS)
    mine = await idle.get()
    try:
        await mine.execute(DEBIT, (question.epsilon, question.epsilon, identity))
    finally:
        idle.put_nowait(mine)
    known[identity] = value
    radius = dp.laplacian_scale_to_accuracy(scale, question.alpha)
    return {"value": value, "radius": radius, "reused": False}
