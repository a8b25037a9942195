"""The peer: a bare FastAPI endpoint that parses the same body and, if asked to, makes one durable SQLite commit."""

import os
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()
connection = sqlite.connect(Path(os.environ["BARE_DATABASE"]), isolation_level=None, check_same_thread=False)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA synchronous = FULL")
connection.execute("CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, body TEXT)")


class Question(BaseModel):
    """The body of a plan or a release, as pydantic reads it."""

    statistic: dict[str, Any]
    epsilon: str
    alpha: float = 0.05
    gamma: float = 0.05
    grid_refinement: int = 0
    reuse: bool = True


@app.post("/plain")
async def plain(question: Question) -> Question:
    """Parse and answer."""
    return question


@app.post("/durable")
async def durable(question: Question) -> Question:
    """Parse, commit one row durably, answer."""
    connection.execute("INSERT INTO answers (body) VALUES (?)", (question.model_dump_json(),))
    return question
