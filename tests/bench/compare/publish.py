"""Writes what a run has measured into docs/performance.md, with its plot and its data beside the page.

`publish.py [build/bench/results.json]`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[3]))

from tests.bench.compare import markdown, plot, targets
from tests.bench.compare.results import Results, read_results
from tests.bench.compare.run import ALL

ROOT: Final = Path(__file__).resolve().parents[3]
MEASURED: Final = ROOT / "build" / "bench" / "results.json"
PAGE: Final = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- begin: measured -->\n", "<!-- end: measured -->\n"
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
            f"Every window: [{data}]({data}).",
            f"![The main figure of each load]({picture})",
            "### Targets",
            markdown.render(targets.rows(results)),
            "### All figures",
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
    return f"#### {title} (`{name}`)\n\n{markdown.table(results, name)}"


if __name__ == "__main__":
    publish(read_results(Path(sys.argv[1]) if len(sys.argv) > 1 else MEASURED), PAGE)
