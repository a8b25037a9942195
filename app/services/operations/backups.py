"""Makes and restores backups: a consistent copy of the ledger, the tables' files and a checkpoint, without downtime.

    DIR/ledger.sqlite3      all tables of the database, SQLite or Postgres
    DIR/data/….parquet      the file of every open dataset
    DIR/checkpoint.json     the heads of the chains in it, signed

A backup does not contain the ledger's secret, so nobody can forge the ledger with a backup alone.
"""

import shutil
from pathlib import Path
from uuid import uuid4

from app import durable_files
from app.config import Settings
from app.db import database_copies
from app.db.database import Database
from app.db.repositories import datasets
from app.db.session import WriteSession
from app.engines.prepared_sums import prepared_file
from app.engines.storage.prepared_tables import hold_table
from app.engines.storage.table_files import data_files
from app.ledger.chain import checkpoints
from app.ledger.chain.checkpoints import Checkpoint
from app.private_files import make_private_directory
from app.services import audit_records, sealing
from app.services.operations import databases, ledger_secrets, offline_ledger

LEDGER, DATA, CHECKPOINT = "ledger.sqlite3", "data", "checkpoint.json"
_MAX_ATTEMPTS = 5


def back_up(settings: Settings, directory: Path) -> Checkpoint:
    """Write a backup to a new directory, which appears when it is complete, and return its checkpoint.

    Raises:
        ValueError: the directory exists, a dataset's file is missing, or the secret is not the ledger's.
        UnavailableError: the database is busy or does not answer.
        OSError: the backup cannot be written.
    """
    if directory.exists():
        raise ValueError(f"{directory} exists already: give the backup a new directory")
    make_private_directory(directory.parent)
    partial = directory.with_name(f".{directory.name}.{uuid4().hex}")
    try:
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            partial.mkdir(mode=0o700)
            made = _attempt(settings, partial, last=attempt == _MAX_ATTEMPTS)
            if made is not None:
                partial.rename(directory)
                durable_files.sync_directory(directory.parent)
                return made
            shutil.rmtree(partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    raise AssertionError("the last attempt succeeds or raises")


def _attempt(settings: Settings, directory: Path, *, last: bool) -> Checkpoint | None:
    """Try to make a backup; return None if a dataset was closed before its file was copied."""
    ledger = directory / LEDGER
    with offline_ledger.open_ledger_snapshot(settings) as session:
        keyring = ledger_secrets.keyring_for_ledger(settings, session)
        database_copies.copy_database_to(session, ledger)
    ledger.chmod(0o600)
    (directory / DATA).mkdir(mode=0o700)
    copy = Database(database_copies.sqlite_url(ledger), as_it_is=True)
    try:
        with copy.read() as session:
            made = checkpoints.make_checkpoint(session, keyring)
            file_ids = datasets.list_file_ids(session)
    finally:
        copy.close()
    for file_id in file_ids:
        try:
            files = data_files(settings.data_dir, file_id)
            prepared = prepared_file(files[0])
            with hold_table(files[0]):  # so that the prepared sums are those of the same file
                for path in [*files, prepared] if prepared.exists() else files:
                    _copy(path, directory / DATA / path.name)
        except FileNotFoundError:
            if last:
                raise ValueError(
                    f"the data file {file_id} of an open dataset is missing from the data directory"
                ) from None
            return None
    durable_files.write_new(directory / CHECKPOINT, made.encode(), 0o600)
    durable_files.sync(ledger)
    for synced in (directory / DATA, directory):
        durable_files.sync_directory(synced)
    return made


def restore(settings: Settings, directory: Path) -> Checkpoint:
    """Restore a backup into an empty database and the data directory, and return its checkpoint.

    Raises:
        ValueError: the directory is not a backup, the database or the data directory is in use, or the secret is not
            the ledger's.
        UnavailableError: the database is busy or does not answer.
        OSError: a file cannot be read or written.
    """
    try:
        made = checkpoints.decode_checkpoint((directory / CHECKPOINT).read_bytes())
        files = sorted((directory / DATA).iterdir())
    except OSError:
        raise ValueError(f"{directory} is not a backup") from None
    make_private_directory(settings.data_dir)
    targets = [settings.data_dir / file.name for file in files]
    if taken := [target for target in targets if target.exists()]:
        raise ValueError(f"{taken[0]} exists already: restore a backup into an empty data directory")
    try:
        for file, target in zip(files, targets, strict=True):
            _copy(file, target)
        durable_files.sync_directory(settings.data_dir)
        _restore_ledger(settings, directory / LEDGER, made.at)
    except BaseException:
        for target in targets:
            target.unlink(missing_ok=True)
        raise
    return made


def _restore_ledger(settings: Settings, backup: Path, made_at: str) -> None:
    def recorded(transaction: WriteSession) -> None:
        keyring = ledger_secrets.keyring_for_ledger(settings, transaction)
        sealing.seal_ledgers(transaction, keyring)  # if an earlier version made the backup
        audit_records.record(
            transaction, keyring.seal, audit_records.command_actor(), "database.restore", None, at=made_at
        )

    scratch = settings.data_dir / f".{uuid4().hex}"
    scratch.mkdir(mode=0o700)
    try:
        _copy(backup, scratch / LEDGER)  # opening may change the file, and a backup must not change
        with databases.use_database(settings) as database:
            database_copies.restore_database_from(scratch / LEDGER, database, recorded)
    finally:
        shutil.rmtree(scratch)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)
    durable_files.sync(target)
