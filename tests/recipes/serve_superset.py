"""Superset with its own database in SQLite, as its own commands prepare it; run by the Python that has Superset.

Each command of its own would load Superset again, for ten seconds.

Run: python serve_superset.py PORT PASSWORD
"""

import sys

from flask.cli import ScriptInfo
from superset.app import create_app
from superset.cli.main import superset
from werkzeug.serving import run_simple

USER = ("--username", "admin", "--firstname", "A", "--lastname", "B", "--email", "admin@example.org")


def main(port: str, password: str) -> None:
    app = create_app()
    known = ScriptInfo(create_app=lambda: app)
    for command in (("db", "upgrade"), ("init",), ("fab", "create-admin", *USER, "--password", password)):
        superset.main(command, standalone_mode=False, obj=known)
    run_simple("127.0.0.1", int(port), app, threaded=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
