"""What the Dockerfile's steps make: built in a clean root tree, and run as a hardened container runs it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from build_context import ROOT, copy_context
from dockerfile_steps import Build, Image, stages_of
from packaging.markers import Marker
from sandbox import Container, build_step, container
from service_world import X_COLUMNS, numbers_csv

pytestmark = [pytest.mark.container, pytest.mark.timeout(1200)]

LIBRARIES = "libbz2-1.0,libexpat1,libffi8,liblzma5,libncursesw6,libreadline8t64,libsqlite3-0,libssl3t64,libuuid1,zlib1g"
MAX_BYTES = 350 * 2**20  # of what the image adds to its base
BUILD_TOOLS = re.compile(r"(gcc|g\+\+|cc|make|ld|cargo|go|pip[0-9.]*|git|curl|wget)")
URL = "http://127.0.0.1:8000"


def _base(root: Path, *, slim: bool) -> None:
    """A tree like one of the Dockerfile's bases: Debian's smallest, and a Python 3.11; `strip` unless it is slim.

    Debian 13 has no Python 3.11, so it is the one that runs the tests. Where that is Debian's own, the tree is of
    Debian 12, which has it.
    """
    own = Path(sys.base_prefix)
    is_debians = own == Path("/usr")
    packages = ["python3,python3-venv" if is_debians else LIBRARIES, *([] if slim else ["binutils"])]
    suite = "bookworm" if is_debians else "trixie"
    if shutil.which("mmdebstrap"):
        command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}", suite, str(root)]
    elif shutil.which("debootstrap"):
        command = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", suite, str(root)]
    else:
        pytest.skip("a clean root tree needs mmdebstrap or debootstrap")
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        pytest.skip("a clean root tree could not be made: are Debian's packages within reach?")
    if is_debians:
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    else:
        _copy_interpreter(own, root / "usr/local")


def _copy_interpreter(own: Path, to: Path) -> None:
    """Copy what `make install` of Python 3.11 puts there, without its tests and what was installed since."""
    library = Path("lib/python3.11")
    left_out = shutil.ignore_patterns("__pycache__", "config-*", "site-packages", "test", "tests")
    shutil.copytree(own / library, to / library, symlinks=True, ignore=left_out)
    (to / library / "site-packages").mkdir()
    for shared in (own / "lib").glob("libpython3*.so*"):
        shutil.copy2(shared, to / "lib", follow_symlinks=False)
    shutil.copy2((own / "bin/python3.11").resolve(), to / "bin/python3.11")
    for name in ("python", "python3"):
        (to / "bin" / name).symlink_to("python3.11")
    subprocess.run(["chroot", to.parents[1], "ldconfig"], check=True)


def _for_python(version: str, lock: str) -> str:
    """What a lock file pins for this Python: pip would look at its own."""
    environment = {"python_full_version": version, "python_version": version.rpartition(".")[0]}
    wanted = []
    for pinned in re.split(r"\n(?=\S)", lock):
        requirement, marker, hashes = re.fullmatch(r"([^;\\]*?)(?: ; ([^\\]*?))?( \\.*)", pinned, re.DOTALL).groups()
        if marker is None or Marker(marker).evaluate(environment):
            wanted.append(requirement + hashes)
    return "\n".join(wanted)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    if os.geteuid() != 0 or shutil.which("bwrap") is None:
        pytest.skip("executing the Dockerfile's steps needs root and bubblewrap")
    folder = tmp_path_factory.mktemp("image")
    for part in ("context", "wheels", "trees", "bases"):
        (folder / part).mkdir()
    copy_context(ROOT, folder / "context")
    stages = stages_of(ROOT / "Dockerfile")
    locks = re.findall(r"-r (\S+\.lock)", " ".join(step.value for stage in stages for step in stage.steps))
    bases = {stage.base: folder / "bases" / ("slim" if "-slim" in stage.base else "full") for stage in stages}
    for root in set(bases.values()):
        _base(root, slim=root.name == "slim")
    version = subprocess.check_output(["chroot", root, "python", "-V"], text=True).split()[1]
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--only-binary", ":all:"]
    download += ["--python-version", version, "--dest", str(folder / "wheels")]
    for lock in locks:
        wanted = folder / Path(lock).name
        wanted.write_text(_for_python(version, (ROOT / lock).read_text()))
        subprocess.run([*download, "-r", wanted], check=True)
    folder.chmod(0o755)
    build = Build(
        folder / "trees",
        folder / "context",
        bases.__getitem__,
        lambda image, command: build_step(image, command, folder / "wheels"),
    )
    return build.image(stages)


@pytest.fixture
def data(tmp_path: Path, image: Image) -> Path:
    """A new volume, which is the image's directory at first."""
    volume = tmp_path / "volume"
    shutil.copytree(image.inside(image.volumes[0]), volume)
    shutil.chown(volume, *map(int, image.user.split(":")))
    return volume


def call(running: Container, method: str, path: str, **asked: Any) -> httpx.Response:
    key = (running.data / "data/admin-key").read_text().strip() if (running.data / "data/admin-key").exists() else ""
    headers = {"Authorization": f"Bearer {key}", **asked.pop("headers", {})}
    return running.on_its_network(lambda: httpx.request(method, f"{URL}{path}", headers=headers, timeout=30, **asked))


def ready(running: Container, log: Path) -> None:
    for _ in range(600):
        try:
            if call(running, "GET", "/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
        assert running.outer.poll() is None, log.read_text()
    raise AssertionError(log.read_text())


def test_the_image_is_lean_and_closed(image: Image) -> None:
    programs = [
        path
        for folder in ("usr/local/bin", "opt/snapledger/bin", "usr/bin")
        for path in (image.root / folder).iterdir()
    ]
    assert {"snapledger", "python"} <= {path.name for path in programs}
    assert [path for path in programs if BUILD_TOOLS.fullmatch(path.name)] == []
    installed = {
        path.name.partition("-")[0] for path in image.root.glob("opt/snapledger/lib/*/site-packages/*.dist-info")
    }
    assert {"snapledger", "fastapi", "psycopg_binary"} <= installed
    assert installed.isdisjoint({"pip", "setuptools", "wheel", "hatchling", "pytest", "ruff"})
    for leftover in ("build", "wheels", "built", "opt/tools", "root/.cache", "wheels-here/x"):
        assert not (image.root / leftover).exists() or not any((image.root / leftover).iterdir()), leftover
    files = [path for path in (image.root / "opt/snapledger").rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) <= MAX_BYTES
    assert not [path for path in files if path.suffix in {".a", ".h", ".pyi"} or "tests" in path.parts]
    uid, gid = map(int, image.user.split(":"))
    assert uid > 0
    writable = [path for path in image.root.rglob("*") if path.lstat().st_uid == uid or path.lstat().st_gid == gid]
    assert writable == [image.inside(image.volumes[0])]


def test_it_releases_with_a_root_that_it_can_only_read(image: Image, data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with container(image, data, log) as running:
        ready(running, log)
        status = Path(f"/proc/{running.pid}/status").read_text()
        for line in (rf"Uid:\t{image.user.split(':')[0]}\t", r"NoNewPrivs:\t1", "CapEff:\t0{16}", "CapBnd:\t0{16}"):
            assert re.search(line, status), line
        assert running.execute("touch", f"{image.volumes[0]}/data/x").returncode == 0
        for path in ("/x", "/opt/snapledger/x", "/etc/x", "/usr/bin/x"):
            assert running.execute("touch", path).returncode != 0, path
        assert call(running, "GET", "/healthz").json() == {"status": "ok"}
        assert running.execute(*image.health).returncode == 0
        columns = X_COLUMNS
        metadata = json.dumps({"name": "t", "epsilon_limit": "1", "columns": columns})
        rows = numbers_csv(600_000)  # larger than what is kept in memory
        files = {"metadata": (None, metadata), "file": ("t.csv", rows)}
        assert call(running, "POST", "/v1/datasets", files=files).status_code == 201
        assert call(running, "PUT", "/v1/datasets/t/allowances/admin", json={"epsilon_limit": "1"}).status_code == 201
        asked = {"statistic": {"kind": "mean", "column": "x"}, "epsilon": "0.5"}
        released = call(running, "POST", "/v1/datasets/t/releases", json=asked, headers={"Idempotency-Key": "k"})
        assert released.status_code == 201, released.text
        assert abs(released.json()["value"] - 50) < 1
        assert call(running, "GET", "/").status_code == 200
        command_line = Path(f"/proc/{running.pid}/cmdline").read_text()
        assert (data / "data/admin-key").read_text().strip() not in command_line
        os.kill(running.pid, signal.SIGSTOP)
        try:
            assert running.execute(*image.health).returncode != 0
        finally:
            os.kill(running.pid, signal.SIGCONT)
        os.kill(running.pid, signal.SIGTERM)
        assert running.outer.wait(timeout=40) in {0, 128 + signal.SIGTERM}, log.read_text()
        assert "Application shutdown complete." in log.read_text()
    assert [path.name for path in data.iterdir() if path.name not in {"data", "var"}] == []
    with container(image, data, log) as running:  # and all of it is there after a restart
        ready(running, log)
        again = call(running, "POST", "/v1/datasets/t/releases", json=asked, headers={"Idempotency-Key": "k"})
        assert (again.content, again.headers["idempotency-replayed"]) == (released.content, "true")


def test_migrate_is_a_command_of_the_image(image: Image, data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with container(image, data, log, "migrate") as running:
        assert running.outer.wait(timeout=60) == 0, log.read_text()
    assert "The database is migrated." in log.read_text()
    with container(image, data, log, SNAPLEDGER_AUTO_MIGRATE="false") as running:
        ready(running, log)


def test_a_read_only_volume_is_told_in_a_line(image: Image, tmp_path: Path) -> None:
    closed, log = tmp_path / "closed", tmp_path / "log"
    closed.mkdir(mode=0o555)
    with container(image, closed, log) as running:
        assert running.outer.wait(timeout=60) != 0
    assert "Traceback" not in log.read_text()
