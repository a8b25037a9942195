"""The R client: built, checked and tried as R's community does it, against a real service."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from client_world import People, losing_every_third_answer, settle
from provider import provider
from r_world import PACKAGE, R
from service_world import Service, serving
from session_text import masked
from sign_on_provider import SignOnProvider, sign_on_settings

from snapledger_client import Client, Estimate, Histogram

pytestmark = [pytest.mark.r, pytest.mark.timeout(600)]

RELEASES = 100
SCRIPTS = Path(__file__).parent
PAGE = PACKAGE.parents[1] / "docs" / "r.md"
BLOCK = re.compile(r"```r\n(.*?)```\n", re.DOTALL)


def test_the_check_has_no_error_and_no_warning(r: R, package: Path, with_service: dict[str, str]) -> None:
    offline = {"_R_CHECK_SYSTEM_CLOCK_": "false", "_R_CHECK_XREFS_REPOSITORIES_": f"file://{r.folder}"}
    r.run("R", "CMD", "check", "--no-manual", "--no-build-vignettes", package, **with_service, **offline)
    log = (r.folder / "snapledger.Rcheck" / "00check.log").read_text()
    assert log.rstrip().endswith("Status: OK"), log
    told = (r.folder / "snapledger.Rcheck" / "tests" / "testthat.Rout").read_text()
    (outcome,) = re.findall(r"\[ FAIL (\d+) \| WARN (\d+) \| SKIP (\d+) \| PASS (\d+) \]", told)[-1:]
    assert outcome[:3] == ("0", "0", "0"), told
    assert int(outcome[3]) > 0


def test_the_vignette_has_answers(r: R, package: Path) -> None:
    r.run("tar", "-xzf", package, "snapledger/inst/doc/snapledger.html")
    page = (r.folder / "snapledger/inst/doc/snapledger.html").read_text()
    for told in ("mean of body_mass_g: within", "of your allowance and", "regression of", "did you mean"):
        assert told in page
    assert page.count("<img ") >= 3


def test_a_hundred_releases_through_a_lossy_network_cost_a_hundred_debits(
    installed: R, service: Service, people: People
) -> None:
    with Client(service.url, people.owner) as owner:
        before = sum(entry.kind == "debit" for entry in owner.dataset("penguins").ledger())
    with losing_every_third_answer(service.url) as loss:
        told = installed.run(
            "Rscript", SCRIPTS / "hundred_releases.R", str(RELEASES), SNAPLEDGER_URL=loss.url, SNAPLEDGER_KEY=people.ada
        )
    ids = told.split()
    assert loss.dropped >= RELEASES // 3
    assert loss.seen == RELEASES + loss.dropped
    with Client(service.url, people.owner) as owner:
        debits = [entry for entry in owner.dataset("penguins").ledger() if entry.kind == "debit"][before:]
    assert sorted(str(entry.release_id) for entry in debits) == sorted(ids)
    assert len(set(ids)) == RELEASES
    assert {entry.epsilon for entry in debits} == {Decimal("0.1")}


def numbers_of(rows: list[dict[str, Any]]) -> list[tuple[float | None, ...]]:
    """Values and the ends of their intervals; an end that is not known is NA in R."""
    ends = ("value", "conf_low", "conf_high")
    return [tuple(None if row[name] in {None, "NA"} else float(row[name]) for name in ends) for row in rows]


def test_figures_are_those_that_the_python_client_reads(installed: R, with_service: dict[str, str]) -> None:
    told = json.loads(installed.run("Rscript", SCRIPTS / "figures.R", **with_service))
    with Client(with_service["SNAPLEDGER_URL"], with_service["SNAPLEDGER_KEY"]) as client:
        for release_id, rows in told["releases"].items():
            release = client.release(release_id)
            if isinstance(release, Histogram):
                expected = [(v, *ends) for v, ends in zip(release.value_in_range, release.interval, strict=True)]
                assert [row["label"] for row in rows] == release.labels
            else:
                assert isinstance(release, Estimate)
                expected = [(release.value_in_range, *release.interval)]
            assert numbers_of(rows) == expected
        for each in told["derived"]:
            derived = client.dataset("penguins").derive(each["derived"], epsilon=each["epsilon"])
            assert derived.budget.charged == 0  # its releases are those that R paid for
            known = [row for estimate in derived.estimates.values() for row in estimate.rows]
            rows = [row for row, (value, *_) in zip(each["numbers"], known, strict=True) if value is not None]
            assert numbers_of(rows) == [row for row in known if row[0] is not None]
    assert (len(told["releases"]), len(told["derived"])) == (7, 5)


def test_somebody_signs_in_with_an_account(installed: R, tmp_path: Path) -> None:
    with provider(SignOnProvider) as issuer:
        issuer.seconds, issuer.device_replies = 1, ["authorization_pending"]
        settings = sign_on_settings(issuer)
        with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3", **settings) as service:
            told = installed.run("Rscript", SCRIPTS / "sign_in.R", SNAPLEDGER_URL=service.url)
    assert told.split() == ["role", "analyst", "renewed", "ada", "ended"]
    assert issuer.count("/device") == issuer.count("/revoke") == 1
    assert issuer.count("/token") >= 3
    assert all(grant.is_revoked for grant in issuer.refreshes.values())


def test_the_page_of_the_guide_is_true(installed: R, tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text())
    script, expected = [], []
    for block in blocks:
        lines = block.splitlines()
        script += ["cat('<block>\\n')", *(line for line in lines if not line.startswith("#> "))]
        expected.append("\n".join(line.removeprefix("#> ") for line in lines if line.startswith("#> ")))
    (installed.folder / "page.R").write_text("\n".join(script))
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3") as fresh:
        keys = settle(fresh, limit=10, allowance=6)
        with_keys = {"SNAPLEDGER_KEY": keys.ada, "SNAPLEDGER_OWNER_KEY": keys.owner}
        printed = installed.run("Rscript", "page.R", SNAPLEDGER_URL=fresh.url, **with_keys)
    told = printed.split("<block>\n")[1:]
    # Where lines are wrapped depends on the noise.
    assert [masked(text).split() for text in told] == [masked(text).split() for text in expected]


def test_the_code_has_one_style(r: R) -> None:
    if not r.has("lintr"):
        pytest.skip("r-cran-lintr is not installed: see .ci/run")
    found = r.run("Rscript", "-e", f'print(lintr::lint_package("{PACKAGE}"))')
    assert "style:" not in found, found
    assert "warning:" not in found, found


def test_the_manual_pages_are_those_of_the_sources(r: R) -> None:
    if not r.has("roxygen2"):
        pytest.skip("r-cran-roxygen2 is not installed: see .ci/run")
    r.run("cp", "-r", PACKAGE, "copy")
    r.run("Rscript", "-e", 'roxygen2::roxygenise("copy")')
    for path in (PACKAGE / "NAMESPACE", *PACKAGE.glob("man/*.Rd")):
        assert (r.folder / "copy" / path.relative_to(PACKAGE)).read_text() == path.read_text(), "run make r-docs"
    assert len(list((r.folder / "copy/man").glob("*.Rd"))) == len(list(PACKAGE.glob("man/*.Rd")))
