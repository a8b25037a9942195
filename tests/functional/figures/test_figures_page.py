"""What the page on figures shows is what happens."""

import json
import re
from pathlib import Path

from service_world import Service, key_of
from shell_text import shell

PAGE = (Path(__file__).parents[3] / "docs" / "figures.md").read_text()
MASS = {"body_mass_g": {"kind": "integer", "bounds": [2000, 7000]}}


def test_a_figure_is_published_and_read_as_the_page_says(service: Service, tmp_path: Path) -> None:
    table = service.table(MASS, "body_mass_g\n" + "3700\n4200\n" * 50)
    released = table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="1")
    body, board = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (command,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    asked = json.loads(body) | {"release": released["id"]}
    published = table.analyst.put(f"{table.path}/figures/body-mass", json=asked)
    assert published.status_code == 201, published.text
    composed = json.loads(board)
    composed["figures"][0]["dataset"] = table.name
    made = table.owner.put("/v1/collections/penguins-2009", json=composed)
    assert made.json()["figures"][0]["title"] == asked["title"]
    assert table.owner.get("/collections/penguins-2009?refresh=60").status_code == 200
    with shell(tmp_path, service.url, SNAPLEDGER_KEY=key_of(table.analyst)) as terminal:
        printed = terminal.type(command.strip().replace("penguins", table.name))
    header, row = printed.splitlines()
    assert row.startswith("mean,body_mass_g,,mean,,,")
    described = re.findall(r"^\| (`[a-z_`, ]+) \|", PAGE.partition("## Who reads")[0], re.MULTILINE)
    assert header.split(",") == [name for line in described for name in re.findall(r"`([a-z_]+)`", line)]
