"""Run a command with a temporary service that has the penguins, as an analyst with an allowance on them.

`tools/release_check.py` runs this in the environment of an installed service: `serve_example.py VERSION COMMAND …`.
"""

import os
import subprocess
import sys

from app.demo import service, tour

PAGES = ("/", "/docs", "/guide/", "/guide/tutorial-analyst.html", "/web/main.js", "/web/vendor/d3-shape.min.js")


def main(version: str, *command: str) -> None:
    """Check the pages and the version of the installed package, then run the command."""
    with service.temporary() as admin:
        for page in PAGES:
            admin.get(page).raise_for_status()
        described = admin.get("/openapi.json").json()["info"]["version"]
        if described != version:
            sys.exit(f"/openapi.json is of version {described}, not {version}")
        key = tour.register_penguins(admin)
        environment = os.environ | {"SNAPLEDGER_URL": str(admin.base_url), "SNAPLEDGER_KEY": key}
        subprocess.run(command, env=environment, check=True)  # noqa: S603 - our own example


if __name__ == "__main__":
    main(*sys.argv[1:])
