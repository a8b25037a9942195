"""The benchmarks that `make bench` runs, with their arguments, and how to read their tables."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Peers:
    """Where a benchmark's table has our figures and those of the peers.

    Either each is in a column of its own (`ours`, and `theirs` with the name of the peer by column), or each server has
    a row of its own: then `server` is the column with its name, `figure` the one that is compared, and `ours` our name.

    Attributes:
        cases: the columns that say what was measured.
        better: whether a higher or a lower figure is better.
    """

    cases: tuple[str, ...]
    ours: str
    better: Literal["higher", "lower"]
    unit: str
    theirs: tuple[tuple[str, str], ...] = ()
    server: str = ""
    figure: str = ""


@dataclass(frozen=True)
class Run:
    """One benchmark.

    Attributes:
        name: its name, for `python benchmarks/run.py NAME`.
        title: the title of its tables on the page.
        how_to_read: what is measured, and what to compare.
        arguments: those of `make bench`.
        long_arguments: those of `make bench-long`, if it runs this.
    """

    name: str
    title: str
    script: str
    how_to_read: str
    arguments: tuple[str, ...] = ()
    long_arguments: tuple[str, ...] | None = None
    peers: tuple[Peers, ...] = ()
    in_environment_of_peers: bool = False


_OF_SERVERS = {"server": "server", "figure": "requests/s", "better": "higher", "unit": "requests/s"}
_SHORT = ("--seconds", "1", "--rounds", "5")

RUNS = (
    Run(
        "releases-sqlite",
        "Durable releases and plans on SQLite",
        "throughput.py",
        "The bare endpoint parses the same body and, for releases, makes one durable commit. Each fresh release "
        "checks and debits its budget, computes, draws, and appends to the hash chain, all in one durable transaction. "
        "`bare, a release's rows` is an endpoint that only reads and writes the rows of a release, in a transaction "
        "of its own, with their seals and one draw: no key, question or budget is checked. `bare, a plan's rows` reads "
        "the caller and what is left, compares one seal and answers: nothing is planned.",
        _SHORT,
        peers=(Peers(("contest",), "snapledger", **_OF_SERVERS),),
    ),
    Run(
        "releases-postgres",
        "Durable releases and plans on Postgres",
        "throughput.py",
        "The same, with both on the same Postgres server.",
        (*_SHORT, "--postgres"),
        peers=(Peers(("contest",), "snapledger", **_OF_SERVERS),),
    ),
    Run(
        "workers",
        "Durable releases on Postgres by number of workers",
        "ledger.py",
        "All releases are on one dataset, so they wait for the lock of its account. The bare commit is on the event "
        "loop, which is faster than the bare `def` endpoint above.",
        ("--seconds", "1", "--rounds", "3", "--workers", "1", "2"),
        peers=(Peers(("workers",), "release", "higher", "a second", server="what", figure="a second"),),
    ),
    Run(
        "dashboard-load",
        "A dashboard's load on Postgres, beside OpenDP",
        "morning.py",
        "200 clients; 90 % plans and reused releases, 10 % fresh ones. The peer is what a team would write first: "
        "FastAPI over OpenDP's Laplace mechanism with one durable debit per release, without allowances, hash chain, "
        "idempotency and exact sums.",
        ("--seconds", "3", "--workers", "1", "2"),
        ("--seconds", "10", "--workers", "1", "2", "4"),
        (Peers(("workers",), "snapledger", **_OF_SERVERS),),
    ),
    Run(
        "figures",
        "Polls of a figure",
        "figures.py",
        "50 clients poll one figure with a viewer's key. The bare endpoint answers 304 without looking at anything; "
        "ours checks the key, the grant and the seals. After all polls the ledger is what it was before.",
        ("--seconds", "0.3", "--rounds", "3"),
        ("--seconds", "2", "--rounds", "5"),
        (Peers(("poll",), "snapledger", **_OF_SERVERS),),
    ),
    Run(
        "first-questions",
        "The first release of a statistic over a large table",
        "scan.py",
        "Seconds of a first release over HTTP, at the declared bounds, whose sums and codes are prepared, and at other "
        "bounds; `known` is a release whose exact sums are cached. numpy reads the same file, clips and computes, "
        "without privacy. OpenDP's Polars context and diffprivlib do the same with privacy.",
        ("--rows", "10000000"),
        ("--rows", "100000", "100000000"),
        (
            Peers(
                *(("rows", "statistic"), "ours s", "lower", "s"),
                theirs=(("numpy s", "numpy"), ("OpenDP s", "OpenDP"), ("diffprivlib s", "diffprivlib")),
            ),
        ),
    ),
    Run(
        "dashboards",
        "A dashboard's first questions in one process",
        "dashboard.py",
        "Medians in milliseconds over ten columns. Ours are exact sums of clamped values, before any draw. numpy clips "
        "too; DuckDB's own SQL computes the plain answers and does not clip.",
        ("--rows", "10000000", "--rounds", "3"),
        ("--rows", "10000000", "--rounds", "5", "--kinds"),
        (
            Peers(("median ms",), "ours", "lower", "ms", (("numpy", "numpy"),)),
            Peers(("median ms",), "at once", "lower", "ms", (("DuckDB", "DuckDB"),)),
        ),
    ),
    Run(
        "draws",
        "Draws of noise",
        "draws.py",
        "Nanoseconds per draw. Our draws are exact, the peers' are in double precision.",
        peers=(
            Peers(
                *(("draws at once",), "snapledger ns", "lower", "ns"),
                theirs=(("OpenDP ns", "OpenDP"), ("diffprivlib ns", "diffprivlib")),
            ),
        ),
        in_environment_of_peers=True,
    ),
    Run(
        "histograms",
        "Histograms of many bins",
        "bulk.py",
        "Over a million rows and over HTTP. `again` is a second fresh draw, when the counts are cached. numpy only "
        "counts.",
        peers=(Peers(("bins",), "first s", "lower", "s", (("numpy counts s", "numpy"),)),),
    ),
    Run(
        "growth",
        "Latency as the ledger grows",
        "growth.py",
        "Each size has a service of its own, and all are measured in turn with one client. `against the first` is the "
        "median over the rounds of the p50 divided by that of the first row in the same round: 1.0 is no growth.",
        ("--requests", "300", "--sizes", "100", "30000"),
        ("--requests", "500", "--sizes", "100", "1000", "10000", "100000", "1000000"),
    ),
    Run(
        "growth-postgres",
        "Latency as the ledger grows, on Postgres",
        "growth.py",
        "The same with the ledger in Postgres.",
        ("--requests", "300", "--sizes", "100", "30000", "--postgres"),
        ("--requests", "500", "--sizes", "100", "1000", "10000", "100000", "1000000", "--postgres"),
    ),
    Run(
        "verification",
        "Verification of a long ledger",
        "verification.py",
        "Every debit has a release with its answer and an idempotency key, whose hashes and seals are checked too. `by "
        "processor time` is what one core alone would do: on Postgres the server works at the same time. `rows, "
        "unpacked and hashed` reads the same rows with the driver alone, unpacks and hashes the answers and computes "
        "as many seals over as many bytes: what no verification in one process can do without.",
        ("--debits", "50000", "--rounds", "3"),
        ("--debits", "1000000", "--rounds", "3"),
        (
            Peers(
                *(("database", "entries"), "verification", "higher", "entries/s"),
                server="what",
                figure="entries a second",
            ),
        ),
    ),
    Run(
        "registration",
        "Registration of a table",
        "registration.py",
        "Reading and storing a Parquet file, and the report for its owner, in one process: with the sums and codes "
        "that are prepared, and without. What is prepared makes later questions fast, and the report too.",
        ("--rows", "5000000", "--rounds", "1"),
        ("--rows", "10000000", "--rounds", "3"),
    ),
    Run(
        "memory",
        "Memory under load",
        "memory.py",
        "The memory must stay constant once the caches are full.",
        ("--requests", "15000", "--statistics", "500"),
        ("--requests", "200000"),
    ),
    Run(
        "hostile-files",
        "The worst Parquet files",
        "hostile_parquet.py",
        "No file may take more than a few seconds, or memory beyond the limit of an upload. The long run reads all.",
        ("--only", "tiny_pages", "columns_in_row_groups", "deep_schema", "long_footer"),
        (),
    ),
    Run(
        "times-of-texts",
        "Whether times depend on texts",
        "timing_of_texts.py",
        "The times of a column must not depend on what its texts are. This is a check, not a comparison.",
        ("--rounds", "7"),
    ),
    Run(
        "times-of-noise",
        "Whether times reveal the noise",
        "timing_leak.py",
        "Welch's t between the half with more noise and the half with less; beyond ±4.5 is suspect. The long run makes "
        "a hundred times as many requests, which is what a check needs.",
        ("--draws", "20000", "--requests", "1000"),
        ("--draws", "100000", "--requests", "100000"),
    ),
)
