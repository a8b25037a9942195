"""Build both packages into `dist/`, try them in empty environments, and list their components (CycloneDX).

`make release-check` runs this in an environment with the packages of `requirements-release.lock`, after it has built
the guide.
"""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LOCK = ROOT / "requirements.lock"
VERSION = runpy.run_path(str(ROOT / "client/src/snapledger_client/_version.py"))["__version__"]
# Commands run without these variables, so that they import nothing from the checkout and get no setting of the shell.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in {"PYTHONPATH", "VIRTUAL_ENV"} and not name.startswith("SNAPLEDGER_")
}


def run(*command: str | Path, folder: Path = ROOT, quiet: bool = True) -> str:
    """Run a command and return its output.

    Raises:
        SystemExit: the command failed; its output is printed first.
    """
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode or not quiet:
        print(done.stdout + done.stderr, end="", flush=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return done.stdout


def build_packages() -> None:
    """Build each source archive and the wheel from it, and check their metadata with twine."""
    shutil.rmtree(DIST, ignore_errors=True)
    for project in (ROOT, ROOT / "client"):
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, project)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir()))


def create_environment(folder: Path, *installations: tuple[str | Path, ...]) -> Path:
    """Create an environment, install packages into it, check for conflicts, and return its Python.

    Args:
        folder: the environment's directory.
        installations: the arguments of each call of `pip install`.
    """
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    for arguments in installations:
        run(*pip, "install", "--quiet", "--no-compile", *arguments)
    run(*pip, "check")
    return python


def write_constraints(path: Path) -> Path:
    """Write the versions of the lock file as constraints for pip, to install only some of the packages."""
    path.write_text("\n".join(re.findall(r"^(\S+==[^\\]*?) *\\?$", LOCK.read_text("utf-8"), re.MULTILINE)), "utf-8")
    return path


def write_component_list(path: Path) -> None:
    """Write the packages of the lock file as a list of components in CycloneDX format."""
    pyproject = ROOT / "pyproject.toml"
    command = ("-m", "cyclonedx_py", "requirements", "--output-reproducible", "--pyproject", pyproject, LOCK)
    listed = json.loads(run(sys.executable, "-W", "ignore", *command))
    listed["metadata"]["component"]["version"] = VERSION  # pyproject.toml does not contain the version itself
    path.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")


def check_commands(python: Path, *, has_service: bool) -> None:
    """Check that an environment has the command line of this version, with the service's commands or without them."""
    command = python.with_name("snapledger")
    told = run(command, "--version", folder=python.parent).strip()
    if told != f"snapledger {VERSION}":
        sys.exit(f"the installed package is {told}, not {VERSION}")
    run(command, "dataset", "add", "--help", folder=python.parent)
    if has_service:
        run(command, "serve", "--help", folder=python.parent)
        return
    done = subprocess.run(  # noqa: S603
        [command, "serve"], cwd=python.parent, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if done.returncode != 2 or "pip install snapledger" not in done.stderr:
        sys.exit(f"without the service, `snapledger serve` exits with {done.returncode}: {done.stderr}")


def check_installing_both(folder: Path, pinned: tuple[str | Path, ...], wheel: Path, client_wheel: Path) -> None:
    """Check that the packages can be installed in either order, and that each can be uninstalled."""
    python = create_environment(folder, pinned, ("--no-deps", client_wheel), ("--no-deps", wheel))
    check_commands(python, has_service=True)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "uninstall", "--quiet", "--yes", "snapledger")
    check_commands(python, has_service=False)
    run(*pip, "uninstall", "--quiet", "--yes", "snapledger-client")
    run(*pip, "install", "--quiet", "--no-compile", "--no-deps", wheel)
    if python.with_name("snapledger").exists():
        sys.exit("the service's package has a command of its own")
    run(*pip, "install", "--quiet", "--no-compile", "--no-deps", client_wheel)
    check_commands(python, has_service=True)


def main() -> None:
    """Build and check a release."""
    print("Building and checking the packages …", flush=True)
    build_packages()
    (wheel,), (client_wheel,) = DIST.glob("snapledger-*.whl"), DIST.glob("snapledger_client-*.whl")
    with tempfile.TemporaryDirectory(prefix="snapledger-release-") as name:
        folder = Path(name)
        print("Installing both packages into an empty environment, and the client alone into another …", flush=True)
        pinned = ("--require-hashes", "--only-binary", ":all:", "-r", LOCK)
        service = create_environment(folder / "service", pinned, ("--no-deps", wheel, client_wheel))
        constraints = write_constraints(folder / "constraints.txt")
        client = create_environment(folder / "client", ("--constraint", constraints, client_wheel))
        check_commands(service, has_service=True)
        check_commands(client, has_service=False)
        check_installing_both(folder / "both", pinned, wheel, client_wheel)
        run(service.with_name("snapledger"), "demo", folder=folder)
        print("The demonstration runs. The client's first example prints:", flush=True)
        readme = (ROOT / "client/README.md").read_text("utf-8")
        (folder / "example.py").write_text(
            re.findall(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)[0], "utf-8"
        )
        run(service, ROOT / "tools/serve_example.py", VERSION, client, "example.py", folder=folder, quiet=False)
    write_component_list(DIST / f"snapledger-{VERSION}.cdx.json")
    described = json.loads((ROOT / "app/api/openapi/openapi.json").read_text("utf-8"))
    if described["info"]["version"] != VERSION:
        sys.exit(f"openapi.json is of version {described['info']['version']}, not {VERSION}: run make openapi")
    shutil.copy(ROOT / "app/api/openapi/openapi.json", DIST)  # clients are generated from it
    print(f"Release {VERSION} is ready in dist/:", *(path.name for path in sorted(DIST.iterdir())), sep="\n  ")


if __name__ == "__main__":
    main()
