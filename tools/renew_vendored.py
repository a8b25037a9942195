"""Renew app/web/vendor: the files of pinned npm packages that draw the charts, as npm has them.

`python tools/renew_vendored.py` fetches each tarball again, checks it against the manifest, and writes its file and
licence. `python tools/renew_vendored.py d3-scale@4.1.0 …` takes other versions. Only developers need this, and npm.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "app" / "web" / "vendor"
MANIFEST: Final = FOLDER / "manifest.json"
LICENSES: Final = FOLDER / "LICENSES.txt"


def hash_of(content: bytes) -> str:
    """Return a hash as npm and browsers write it: its name, and its bytes in Base64."""
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"


def fetch(package: str, version: str, folder: Path) -> Path:
    """Return the tarball of a package."""
    command = ["npm", "pack", "--silent", "--ignore-scripts", f"{package}@{version}"]
    name = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603
    return folder / name.splitlines()[-1]


def renew(entry: dict[str, str], version: str, folder: Path) -> tuple[dict[str, str], str]:
    """Write the file of a package; return its entry and its licence."""
    package = entry["package"]
    tarball = fetch(package, version, folder)
    integrity = hash_of(tarball.read_bytes())
    if version == entry["version"] and entry.get("integrity", integrity) != integrity:
        sys.exit(f"{package}@{version} is {integrity} now, but the manifest has {entry['integrity']}")
    with tarfile.open(tarball) as archive:
        content = archive.extractfile(f"package/dist/{package}.min.js").read()  # type: ignore[union-attr]
        licence = archive.extractfile("package/LICENSE").read().decode()  # type: ignore[union-attr]
        facts = json.loads(archive.extractfile("package/package.json").read())  # type: ignore[union-attr]
    (FOLDER / f"{package}.min.js").write_bytes(content)
    renewed = {"package": package, "version": version, "license": facts["license"], "integrity": integrity}
    return renewed | {"file": f"{package}.min.js", "file_hash": hash_of(content)}, licence


def main(wanted: list[str]) -> None:
    """Renew every package of the manifest, in the versions that are wanted."""
    versions = dict(each.rsplit("@", 1) for each in wanted)
    entries = json.loads(MANIFEST.read_text())
    with tempfile.TemporaryDirectory() as folder:
        pairs = [renew(each, versions.get(each["package"], each["version"]), Path(folder)) for each in entries]
    MANIFEST.write_text(json.dumps([entry for entry, _ in pairs], indent=2) + "\n")
    LICENSES.write_text(
        "\n\n".join(f"{entry['package']} {entry['version']}\n\n{text.strip()}" for entry, text in pairs) + "\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
