"""Write the OpenAPI document that the service answers: `make openapi` writes app/api/openapi/openapi.json.

Building the document from the routes takes a third of a second, in which a process answers nobody. So a service only
reads it.

Run: python tools/write_openapi.py
"""

import json
from pathlib import Path

from app.config import Settings
from app.main import create_app

PATH = Path(__file__).parent.parent / "app" / "api" / "openapi" / "openapi.json"


def render_document() -> str:
    """Return the document of the routes, one member a line, so that a change of the interface can be read."""
    return json.dumps(create_app(Settings()).openapi(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(render_document(), "utf-8")
