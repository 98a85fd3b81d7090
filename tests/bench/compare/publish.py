"""Writes what a run has measured into docs/performance.md, with its plot and its data beside the page.

`publish.py [build/bench/results.json ...]`; without a file also of the last run of `make bench-full`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[3]))

from tests.bench.compare import markdown, plot, targets
from tests.bench.compare.results import Results, read_results
from tests.bench.compare.run import ALL

ROOT: Final = Path(__file__).resolve().parents[3]
MEASURED: Final = [ROOT / "build" / "bench" / name for name in ("results.json", "large.json")]
PAGE: Final = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- begin: measured -->\n", "<!-- end: measured -->\n"
ONLY_IN_DATA: Final = ("p999_ms", "cores", "load_us")
"""Figures that say how a run went, for who looks at one closely."""

ABOUT: Final = {
    "when": "when",
    "processor": "processor",
    "memory": "memory",
    "kernel": "kernel",
    targets.FORCED_WRITE: "one append and its fdatasync, median, ms",
    "load": "load of the machine when the run began",
    "kraftctl": "kraftctl",
    "kafka": "Apache Kafka",
    "rounds": "rounds",
}


def publish(results: Results, page: Path) -> None:
    """Replaces what is between the two marks of the page."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    picture, data = page.with_suffix(".svg"), page.with_suffix(".json")
    picture.write_text(plot.plot(results))
    results.write(data)
    page.write_text(f"{before}{BEGIN}{_section(results, picture.name, data.name)}{END}{after}")


def _section(results: Results, picture: str, data: str) -> str:
    about = [
        ["", ""],
        *[[label, results.about[name]] for name, label in ABOUT.items() if name in results.about],
    ]
    return "\n\n".join(
        [
            markdown.render(about),
            f"Every window, with the cores in use and what the load generator takes: [{data}]({data}).",
            f"![The main figure of each load]({picture})",
            "### Targets",
            markdown.render(targets.rows(results)),
            "### The figures of each load",
            *[
                _scenario(results, name)
                for name in dict.fromkeys(scenario for scenario, _ in results.loads())
            ],
            *[f"Not measured: {failure.splitlines()[0]}" for failure in results.failures],
            "",
        ]
    )


def _scenario(results: Results, name: str) -> str:
    title = ALL[name].title if name in ALL else name
    return f"#### {title} (`{name}`)\n\n{markdown.table(results, name, ONLY_IN_DATA)}"


def joined(runs: Sequence[Results]) -> Results:
    """One after the other, with what differs about them: when, and how many rounds."""
    about = {
        name: "; ".join(dict.fromkeys(run.about[name] for run in runs if name in run.about))
        for name in runs[0].about
    }
    about[targets.FORCED_WRITE] = runs[0].about.get(targets.FORCED_WRITE, "0")
    return Results(
        about,
        [sample for run in runs for sample in run.samples],
        [failure for run in runs for failure in run.failures],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="*", help="results of runs; those of the last ones without"
    )
    files = parser.parse_args().files or [path for path in MEASURED if path.exists()]
    if not files:
        sys.exit(f"there is no {MEASURED[0]}. Next step: measure, with `make bench`")
    publish(joined([read_results(path) for path in files]), PAGE)
