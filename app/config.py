"""The only reader of the environment: one frozen `Settings`."""

import ipaddress
import os
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import parse_qsl, unquote, urlsplit

import limits
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, StringConstraints, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from app import secret_files
from app.roles import Role


def _rate_limit(text: str) -> str:
    """Accept a rate limit such as `600/minute` or `20/second;600/minute`; `off` means no limit."""
    if text != "off":
        try:
            limits.parse_many(text)
        except ValueError:
            raise ValueError("must be a rate such as 600/minute or 20/second;600/minute, or off") from None
    return text


def _parse_list(value: object) -> object:
    """Parse a comma-separated list from the environment."""
    return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value


def _networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Accept addresses and networks, such as `10.0.0.5,10.1.0.0/16`."""
    for text in texts:
        try:
            ipaddress.ip_network(text)
        except ValueError:
            raise ValueError("must be addresses or networks such as 10.0.0.5 or 10.1.0.0/16") from None
    return texts


_ALGORITHMS = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}


def _algorithms(names: tuple[str, ...]) -> tuple[str, ...]:
    """Accept only asymmetric algorithms, because anybody could sign with a symmetric one and the public key."""
    if not names or not _ALGORITHMS.issuperset(names):
        raise ValueError(f"must be one or more of {', '.join(sorted(_ALGORITHMS))}, separated by commas")
    return names


def _role_map(pairs: object) -> object:
    """Parse pairs such as `data-admins=admin,statistics=analyst`. The first value that a token has gives the role."""
    if not isinstance(pairs, str):
        return pairs
    split = [word.strip().rpartition("=") for word in pairs.split(",") if word.strip()]
    if not split or any(not value or role not in set(Role) for value, _, role in split):
        raise ValueError(f"must be pairs such as value=role, where the role is one of {', '.join(sorted(Role))}")
    return tuple((value, role) for value, _, role in split)


def is_private_url(url: str) -> bool:
    """Return whether nobody on the network can change responses from this URL: it is HTTPS, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    plain = parts.scheme == "http" and host in {"localhost", "127.0.0.1", "::1"}
    return bool(host) and parts.username is None and (plain or parts.scheme == "https")


def _private(url: str) -> str:
    if not is_private_url(url):
        raise ValueError("must be an https:// URL without a user")
    return url


def _origin(url: str) -> str:
    """Accept a URL without a path, and return it as browsers write an origin."""
    parts = urlsplit(_private(url))
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise ValueError("must be a URL without a path, such as https://snapledger.example.org")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _scopes(text: str) -> str:
    """Accept scopes that are separated by spaces; OpenID Connect requires `openid`."""
    scopes = text.split()
    if "openid" not in scopes:
        raise ValueError("must include openid; scopes are separated by spaces")
    return " ".join(scopes)


MIN_KEY_CHARACTERS, MIN_DIFFERENT_CHARACTERS = 32, 8


def _unguessable(key: SecretStr) -> SecretStr:
    """Reject a key that is easy to guess: too short, with few different characters, or a repeated shorter text."""
    text = key.get_secret_value()
    repeats = text in (text + text)[1:-1]
    if len(text) < MIN_KEY_CHARACTERS or len(set(text)) < MIN_DIFFERENT_CHARACTERS or repeats:
        raise ValueError(
            f"must be at least {MIN_KEY_CHARACTERS} random characters; make one with: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return key


ConnectionName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]


_CONNECTABLE = "must be a URL that begins with postgresql://, sc://, s3://, https:// or file:///"


def _connectable(url: SecretStr) -> SecretStr:
    """Reject a URL that no source of data has. The messages do not repeat it, since it may contain a password."""
    try:
        parts = urlsplit(url.get_secret_value())
        host, options = parts.hostname, dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise ValueError(_CONNECTABLE) from None
    if parts.scheme in {"postgresql", "sc"}:
        return url
    if parts.scheme == "file":
        if host or parts.query or parts.fragment or not parts.path.startswith("/"):
            raise ValueError("must be file:// and the absolute path of a directory, such as file:///srv/tables")
    elif parts.scheme == "https":
        if not host or parts.query or parts.fragment:
            raise ValueError("must be https://host/path/, with user:password@ before the host if the server needs it")
    elif parts.scheme == "s3":
        private = is_private_url(options.get("endpoint", "https://s3.amazonaws.com"))
        if not host or not {"region", "endpoint"}.issuperset(options) or parts.fragment or not private:
            raise ValueError("must be s3://key:secret@bucket/prefix?region=…&endpoint=https://…, the last two optional")
    else:
        raise ValueError(_CONNECTABLE)
    return url


def _frame_ancestors(origins: tuple[str, ...]) -> tuple[str, ...]:
    if all(re.fullmatch(r"https?://(\*\.)?[a-z0-9.-]+(:[0-9]{1,5})?", each) for each in origins):
        return origins
    raise ValueError("must be origins such as https://intranet.example.org, separated by commas")


SchemaName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]


def _postgres_url(url: SecretStr) -> SecretStr:
    if not url.get_secret_value().startswith("postgresql://"):
        raise ValueError("must be a URL that begins with postgresql://")
    return url


def traces_asked_for() -> bool:
    """Return whether OpenTelemetry's own settings ask for traces; its packages read all further settings."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    return any(os.environ.get(f"OTEL_EXPORTER_OTLP_{kind}ENDPOINT") for kind in ("", "TRACES_"))


class Settings(BaseSettings):
    """The operator's settings, each read from a variable `SNAPLEDGER_…`.

    A secret can be in a file instead: the variable with `_FILE` added to its name then holds the path. Relative paths
    start at the directory in which the service was started.
    """

    model_config = SettingsConfigDict(
        env_prefix="SNAPLEDGER_",
        frozen=True,
        extra="ignore",
        env_ignore_empty=True,
        hide_input_in_errors=True,  # it may be a secret
        # SNAPLEDGER_CONNECTION_<NAME> is an item of `connection`.
        env_nested_delimiter="_",
        env_nested_max_split=1,
    )

    database_url: str = Field(default="sqlite:///var/snapledger.sqlite3", repr=False)  # a password may be in it
    data_dir: Path = Path("var/data")
    synchronous_commit: Literal["on", "remote_apply"] = "on"
    auto_migrate: bool = True
    admin_key: Annotated[SecretStr, AfterValidator(_unguessable)] | None = None
    secret: SecretStr | None = Field(default=None, min_length=32)
    secret_file: Path | None = None
    connection: Mapping[ConnectionName, Annotated[SecretStr, AfterValidator(_connectable)]] = Field(
        default_factory=dict
    )
    source_timeout_seconds: Annotated[int, Field(ge=1, le=86_400)] = 300
    verify_seconds: int = Field(default=3_600, ge=0, le=7 * 86_400)
    max_stored_bytes_per_dataset: int = Field(default=2**33, ge=1)
    max_stored_bytes_per_allowance: int = Field(default=2**31, ge=1)
    max_upload_bytes: int = Field(default=2**30, ge=1)
    max_upload_memory_bytes: int = Field(default=2**29, ge=2**20)
    max_upload_disk_bytes: int = Field(default=2**32, ge=2**20)
    max_upload_seconds: int = Field(default=1_800, ge=1, le=7 * 86_400)
    max_concurrent_uploads: int = Field(default=1, ge=1, le=1_000)
    max_open_uploads: int = Field(default=16, ge=1, le=1_000)
    max_epsilon_per_release: Annotated[Decimal, Field(gt=0, le=10**6, decimal_places=9)] = Decimal(10)
    rate_limit: Annotated[str, AfterValidator(_rate_limit)] = "600/minute"
    rate_limit_storage: SecretStr = SecretStr("memory://")
    max_concurrent_requests: int = Field(default=256, ge=1)
    max_connections: int = Field(default=2_048, ge=1)
    trusted_proxies: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parse_list), AfterValidator(_networks)] = ()
    cors_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parse_list)] = ()
    figures_database_url: Annotated[SecretStr, AfterValidator(_postgres_url)] | None = None
    figures_schema: SchemaName = "published"
    figures_reader_role: SchemaName = "figures_reader"
    figures_frame_ancestors: Annotated[
        tuple[str, ...], NoDecode, BeforeValidator(_parse_list), AfterValidator(_frame_ancestors)
    ] = ()
    guide_directory: Path = Path(__file__).parent / "guide"  # `make docs` builds it here, and the wheel includes it
    oidc_issuer: Annotated[str, AfterValidator(_private)] | None = None
    oidc_audience: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parse_list)] = ()
    oidc_jwks_url: Annotated[str, AfterValidator(_private)] | None = None
    oidc_algorithms: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parse_list), AfterValidator(_algorithms)] = (
        "RS256",
        "ES256",
    )
    oidc_name_claim: str = Field(default="preferred_username", min_length=1)
    oidc_roles_claim: str = Field(default="roles", min_length=1)
    oidc_role_map: Annotated[tuple[tuple[str, str], ...], NoDecode, BeforeValidator(_role_map)] = ()
    oidc_leeway_seconds: int = Field(default=30, ge=0, le=300)
    oidc_keys_seconds: int = Field(default=600, ge=1, le=3_600)
    oidc_refetch_seconds: int = Field(default=30, ge=1, le=3_600)
    oidc_client_id: str | None = Field(default=None, min_length=1)
    oidc_client_secret: SecretStr | None = Field(default=None, min_length=1)
    oidc_device_client_id: str | None = Field(default=None, min_length=1)
    oidc_scopes: Annotated[str, AfterValidator(_scopes)] = "openid profile"
    oidc_resource: str | None = Field(default=None, min_length=1)
    public_url: Annotated[str, AfterValidator(_origin)] | None = None
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], StringConstraints(to_upper=True, strip_whitespace=True)
    ] = "INFO"

    @model_validator(mode="after")
    def _names_whom_tokens_are_for(self) -> Self:
        if self.oidc_issuer is not None and not (self.oidc_audience and self.oidc_role_map):
            raise ValueError("SNAPLEDGER_OIDC_ISSUER needs SNAPLEDGER_OIDC_AUDIENCE and SNAPLEDGER_OIDC_ROLE_MAP")
        return self

    @model_validator(mode="after")
    def _can_sign_people_on(self) -> Self:
        if self.oidc_client_id is not None and (self.oidc_issuer is None or self.public_url is None):
            raise ValueError("SNAPLEDGER_OIDC_CLIENT_ID needs SNAPLEDGER_OIDC_ISSUER and SNAPLEDGER_PUBLIC_URL")
        if self.oidc_device_client_id is not None and self.oidc_issuer is None:
            raise ValueError("SNAPLEDGER_OIDC_DEVICE_CLIENT_ID needs SNAPLEDGER_OIDC_ISSUER")
        if self.oidc_client_secret is not None and self.oidc_client_id is None:
            raise ValueError("SNAPLEDGER_OIDC_CLIENT_SECRET needs SNAPLEDGER_OIDC_CLIENT_ID")
        return self

    @model_validator(mode="after")
    def _keeps_tables_apart(self) -> Self:
        """An owner could otherwise register the tables of others, which are files in the data directory."""
        own = self.data_dir.resolve()
        for name, url in self.connection.items():
            parts = urlsplit(url.get_secret_value())
            if parts.scheme == "file":
                path = Path(unquote(parts.path)).resolve()
                if path.is_relative_to(own) or own.is_relative_to(path):
                    raise ValueError(
                        f"SNAPLEDGER_CONNECTION_{name.upper()} must be a directory apart from SNAPLEDGER_DATA_DIR"
                    )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - only docker-compose reads .env
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - app.secret_files reads ours
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings: the environment and the files that it names."""
        assert isinstance(env_settings, EnvSettingsSource)  # noqa: S101 - pydantic's own
        environment = env_settings.env_vars
        env_settings.env_vars = secret_files.others(environment)
        in_files = InitSettingsSource(settings_cls, secret_files.contents(environment))
        return init_settings, env_settings, in_files

    @cached_property
    def max_epsilon_nano(self) -> int:
        """The maximum cost of one release, in ledger units of 10⁻⁹ ε."""
        return int(self.max_epsilon_per_release * 10**9)
