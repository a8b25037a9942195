"""Secrets in files: read, preferred to nothing, never repeated."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from app import secret_files
from app.config import Settings
from app.services.operations import startup

KEY = "a-key-that-nobody-may-see-0123456789"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ADMIN_KEY", "DATABASE_URL", "FIGURES_DATABASE_URL", "CONNECTION_WAREHOUSE", "SECRET_FILE"):
        monkeypatch.delenv(f"SNAPLEDGER_{name}", raising=False)


def in_file(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> Path:
    path = Path(name.lower()).absolute()
    path.write_text(text)
    monkeypatch.setenv(f"SNAPLEDGER_{name}_FILE", str(path))
    return path


def test_each_secret_may_be_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    in_file(monkeypatch, "ADMIN_KEY", f"{KEY}\n")
    in_file(monkeypatch, "DATABASE_URL", "postgresql://a:b@c/d\n")
    in_file(monkeypatch, "FIGURES_DATABASE_URL", "postgresql://m:n@o/p")
    in_file(monkeypatch, "RATE_LIMIT_STORAGE", "redis://cache:6379")
    in_file(monkeypatch, "CONNECTION_WAREHOUSE", "postgresql://e:f@g/h\r\n")
    monkeypatch.setenv("SNAPLEDGER_CONNECTION_CRM", "postgresql://i:j@k/l")
    monkeypatch.setenv("SNAPLEDGER_SECRET_FILE", "secret")  # a path, as ever: the file has several lines
    settings = Settings()
    assert settings.admin_key is not None
    assert settings.admin_key.get_secret_value() == KEY
    assert settings.database_url == "postgresql://a:b@c/d"
    assert settings.figures_database_url is not None
    assert settings.figures_database_url.get_secret_value() == "postgresql://m:n@o/p"
    assert settings.rate_limit_storage.get_secret_value() == "redis://cache:6379"
    urls = {name: url.get_secret_value() for name, url in settings.connection.items()}
    assert urls == {"crm": "postgresql://i:j@k/l", "warehouse": "postgresql://e:f@g/h"}
    assert settings.secret_file == Path("secret")


def test_no_secret_setting_is_left_out() -> None:
    fields = Settings.model_fields.items()
    secret = {name for name, field in fields if "SecretStr" in str(field.annotation)} - {"secret", "connection"}
    assert secret < set(secret_files.ALONE)


def test_an_empty_variable_names_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNAPLEDGER_ADMIN_KEY_FILE", "")
    assert Settings().admin_key is None


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff"])
def test_a_file_that_holds_no_secret_is_refused(monkeypatch: pytest.MonkeyPatch, content: bytes | None) -> None:
    path = in_file(monkeypatch, "ADMIN_KEY", "")
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(ValueError, match=r"admin_key (is empty|cannot be read)"):
        Settings()


def test_two_places_for_one_secret_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    in_file(monkeypatch, "ADMIN_KEY", KEY)
    monkeypatch.setenv("SNAPLEDGER_ADMIN_KEY", "another")
    with pytest.raises(ValueError, match="SNAPLEDGER_ADMIN_KEY and SNAPLEDGER_ADMIN_KEY_FILE are both set") as refusal:
        Settings()
    assert KEY not in str(refusal.value)


def test_what_a_file_holds_is_checked_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    in_file(monkeypatch, "CONNECTION_WAREHOUSE", f"mysql://{KEY}@host/name")
    with pytest.raises(ValueError, match="must be a URL") as refusal:
        Settings()
    assert KEY not in repr(refusal.value)


def test_settings_do_not_show_a_password() -> None:
    assert KEY not in repr(Settings(database_url=f"postgresql://a:{KEY}@c/d"))


@pytest.mark.parametrize("key", ["letmein", "k" * 64, "0123456789abcdef" * 2, "abcdefg" * 5 + "a", "x" * 31])
def test_a_guessable_admin_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="at least 32 random characters") as refusal:
        Settings(admin_key=SecretStr(key))
    assert key not in str(refusal.value)


@pytest.mark.parametrize("umask", [0, 0o022])
def test_nobody_else_may_read_ledger_and_data(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        settings = Settings(database_url=f"sqlite:///{tmp_path}/new/ledger.sqlite3", data_dir=tmp_path / "data")
        opened = [startup.open_services(settings)]
        made = [path for name in ("new", "data") for path in (tmp_path / name, *(tmp_path / name).rglob("*"))]
        assert {path.name for path in made} >= {
            "ledger.sqlite3",
            "ledger.sqlite3-wal",
            "ledger.sqlite3-shm",
            "admin-key",
        }
        assert [path for path in made if path.stat().st_mode & 0o077] == []
        startup.close_services(opened.pop())
        (tmp_path / "new" / "ledger.sqlite3").chmod(0o644)
        (tmp_path / "data").chmod(0o755)
        startup.close_services(startup.open_services(settings))  # what an earlier version made is narrowed
        assert [path for path in (*made[:2], tmp_path / "data") if path.exists() and path.stat().st_mode & 0o077] == []
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("s3://{0}:{0}@bucket/a%20prefix?region=eu-west-1&endpoint=https://127.0.0.1:9000", None),
        ("s3://bucket", None),
        ("https://reader:{0}@127.0.0.1/tables/", None),
        ("file:///srv/tables", None),
        ("s3://{0}:{0}@/prefix", "must be s3://"),
        ("s3://{0}@bucket?endpoint=http://store:9000", "must be s3://"),
        ("s3://{0}@bucket?endpoint=https://u:{0}@store", "must be s3://"),
        ("s3://{0}@bucket?profile=x", "must be s3://"),
        ("s3://{0}@bucket?region", "must be a URL"),
        ("https:///{0}", "must be https://"),
        ("https://host/{0}?token={0}", "must be https://"),
        ("http://host/{0}", "must be a URL"),
        ("file://host/{0}", "must be file://"),
        ("file:{0}", "must be file://"),
        ("https://[{0}", "must be a URL"),
        ("file:///", "apart from SNAPLEDGER_DATA_DIR"),
        ("file:///srv/data/inner", "apart from SNAPLEDGER_DATA_DIR"),
        ("file:///srv/other/../data", "apart from SNAPLEDGER_DATA_DIR"),
    ],
)
def test_connections_to_files(url: str, told: str | None) -> None:
    connection = {"x": SecretStr(url.format(KEY))}
    if told is None:
        assert Settings(connection=connection, data_dir=Path("/srv/data")).connection == connection
        return
    with pytest.raises(ValueError, match=told) as refusal:
        Settings(connection=connection, data_dir=Path("/srv/data"))
    assert KEY not in repr(refusal.value)
