"""The baseline: a bare FastAPI endpoint that parses the same body and, on some paths, makes one durable commit.

`BARE_DATABASE` is a SQLite file or the URL of a Postgres database; each worker has a pool of Postgres connections.
"""

import asyncio
import os
import queue
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pysqlite3.dbapi2 as sqlite
from bare_question import Question
from fastapi import FastAPI
from starlette.responses import Response

DATABASE = os.environ["BARE_DATABASE"]
ON_POSTGRES = DATABASE.startswith("postgresql://")
CONNECTIONS = 16

idle: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()
idle_of_threads: queue.SimpleQueue[psycopg.Connection[Any]] = queue.SimpleQueue()


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    if ON_POSTGRES:
        for _number in range(CONNECTIONS):
            idle.put_nowait(await psycopg.AsyncConnection.connect(DATABASE, autocommit=True))
            idle_of_threads.put(psycopg.connect(DATABASE, autocommit=True))
    yield
    while not idle.empty():
        await idle.get_nowait().close()


app = FastAPI(lifespan=lifespan)
one_writer = threading.Lock()
if ON_POSTGRES:
    with psycopg.connect(DATABASE, autocommit=True) as administration:
        administration.execute("SELECT pg_advisory_lock(1)")  # all workers start at the same time
        administration.execute("CREATE TABLE IF NOT EXISTS answers (id BIGSERIAL PRIMARY KEY, body TEXT)")
else:
    connection = sqlite.connect(DATABASE, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, body TEXT)")


@app.post("/plain")
def plain(question: Question) -> Question:
    """Parse and answer, in a plain function."""
    return question


@app.get("/not-modified")
def not_modified() -> Response:
    """Answer 304, in a plain function."""
    return Response(status_code=304)


@app.post("/durable")
def durable(question: Question) -> Question:
    """Parse, commit one row durably, and answer, in a plain function like the service's routes."""
    body = question.model_dump_json()
    if not ON_POSTGRES:
        with one_writer:
            connection.execute("INSERT INTO answers (body) VALUES (?)", (body,))
        return question
    mine = idle_of_threads.get()
    try:
        mine.execute("INSERT INTO answers (body) VALUES (%s)", (body,))
    finally:
        idle_of_threads.put(mine)
    return question


@app.post("/plain-async")
async def plain_async(question: Question) -> Question:
    """Parse and answer, on the event loop."""
    return question


@app.post("/durable-async")
async def durable_async(question: Question) -> Question:
    """Parse, commit one row durably, and answer, on the event loop; on SQLite all other requests wait for the disk."""
    body = question.model_dump_json()
    if not ON_POSTGRES:
        connection.execute("INSERT INTO answers (body) VALUES (?)", (body,))
        return question
    mine = await idle.get()
    try:
        await mine.execute("INSERT INTO answers (body) VALUES (%s)", (body,))
    finally:
        idle.put_nowait(mine)
    return question
