"""The message of `snapledger serve`: the URL, how to sign in and how to stop."""

from app.config import Settings
from app.services.identity.principals import ADMIN_KEY_FILE

_EVERY_ADDRESS = {"0.0.0.0": "localhost", "::": "localhost"}  # noqa: S104 - compared, not bound


def describe_start(settings: Settings, host: str, port: int) -> str:
    """Return three lines for the person who starts the service; the log is for operators."""
    name = _EVERY_ADDRESS.get(host, f"[{host}]" if ":" in host else host)
    url = f"http://{name}:{port}"
    key = f"in {(settings.data_dir / ADMIN_KEY_FILE).resolve()}"
    if settings.admin_key is not None:
        key = "the value that SNAPLEDGER_ADMIN_KEY had at the first start"
    return "\n".join(
        (
            f"Snapledger: the dashboard is at {url}/, the guide at {url}/guide/, the HTTP interface at {url}/docs",
            f"The admin's key is {key} (lost? run: snapledger create-key admin)",
            "Stop the service with Ctrl+C",
        )
    )
