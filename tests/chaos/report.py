"""`make reliability-report HOURS=n`: chaos of all kinds for n hours, and docs/reliability-report.md.

Each run leaves its figures in a file of `--figures`; the part of the page between its markers is written from
all of them that are of the present commit, so several calls add up. `--hours 0` only writes the page. A page
of more runs stays, unless `--replace` is given. Status 1 if kraftctl has a find, a run broke, or no page was
written.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.chaos.figures import BROKE, ROOT, commit

PROGRAM = ROOT / "tests/chaos/run.py"
PAGE = ROOT / "docs/reliability-report.md"
BEGIN, END = "<!-- begin run: written by `make reliability-report` -->\n", "<!-- end run -->\n"

RUN_MINUTES_MAX = 8.0
"""A quorum that starts anew reaches other states than one that runs on."""

SCENARIOS = (
    ("kraftctl", 0, "usual"),
    ("kraftctl", 3, "usual"),
    ("kraftctl", 0, "rare"),
    ("kafka", 0, "usual"),
    ("kafka", 0, "rare"),
)
"""Controllers, brokers, faults: as in the options of run.py."""

NAMES = {"kraftctl": "kraftctl", "kafka": "Kafka"}
FIND_CHARACTERS_MAX = 300

Figures = dict[str, Any]
"""What run.py writes."""


def run_all(hours: float, seed: int, directory: Path, scenarios: Sequence[tuple[str, int, str]]) -> list[str]:
    """One scenario after the other, each with another seed, until the time has passed. Returns failures."""
    failures: list[str] = []
    left = hours * 60
    while left > 0.01:
        minutes = min(RUN_MINUTES_MAX, left / len(scenarios))
        for controllers, brokers, faults in scenarios:
            failures += run_one(minutes, seed, directory, controllers, brokers, faults)
            seed += 1
            left -= minutes
    return failures


def run_one(
    minutes: float, seed: int, directory: Path, controllers: str, brokers: int, faults: str
) -> list[str]:
    """Returns why the figures of that run cannot be trusted, in at most one line."""
    figures = directory / f"{controllers}-{brokers}-{faults}-{seed}.json"
    figures.unlink(missing_ok=True)
    options = [
        f"--seed={seed}",
        f"--minutes={minutes:.2f}",
        f"--controllers={controllers}",
        f"--brokers={brokers}",
        f"--faults={faults}",
        f"--directory={directory}",
        f"--figures={figures}",
    ]
    status = subprocess.run([sys.executable, PROGRAM, *options], cwd=ROOT, check=False).returncode
    if not figures.exists():
        return [f"{figures.name}: the run ended with {status} and wrote no figures"]
    if bool(status) != bool(json.loads(figures.read_text())["found"]):
        return [f"{figures.name}: the run ended with {status}, which its figures do not explain"]
    return []


def report(runs: Sequence[Figures]) -> str:
    """The generated part of the page."""
    minutes = sum(one["minutes"] for one in runs)
    of = f"commit {commit() or 'unknown'}, {platform.machine()}, Python {platform.python_version()}"
    blocks = [
        [f"Of {len(runs)} runs, {minutes:.1f} minutes with faults; {of}."],
        list(_verdicts(runs)),
        list(_scenarios(runs)),
        ["Faults:"],
        list(_counts(runs, "faults", "fault")),
        ["What became of damaged controllers:"],
        list(_counts(runs, "outcomes", "damage")),
        ["Operations with a response:"],
        list(_counts(runs, "operations", "key and operation")),
        ["Finds:"],
        list(_finds(runs)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _verdicts(runs: Sequence[Figures]) -> Iterator[str]:
    """One sentence for each kind of controllers that ran."""
    for kind, name in NAMES.items():
        chosen = [one for one in runs if one["controllers"] == kind]
        without = sum(len(one["violations"]) for one in chosen)
        undecided = sum(len(one["undecided"]) for one in chosen)
        found = sum(bool(one["found"]) for one in chosen)
        if chosen:
            yield (
                f"- **{name}**: {without or 'no'} histories without an order,"
                f" {undecided or 'none'} undecided; {found or 'none'} of {len(chosen)} runs found something."
            )


def _scenarios(runs: Sequence[Figures]) -> Iterator[str]:
    yield (
        "| controllers | brokers | faults | runs | minutes | faults injected | epochs with a leader"
        " | records | keys | operations | outcome open | sequential reads"
        " | keys without an order | keys undecided |"
    )
    yield "|" + "--|" * 14
    for scenario in SCENARIOS:
        chosen = [one for one in runs if _scenario(one) == scenario]
        if not chosen:
            continue
        history: Counter[str] = sum((Counter(one["history"]) for one in chosen), Counter())
        cells = [
            NAMES[scenario[0]],
            *scenario[1:],
            len(chosen),
            f"{sum(one['minutes'] for one in chosen):.1f}",
            sum(sum(one["faults"].values()) for one in chosen),
            sum(one["epochs"] for one in chosen),
            sum(one["records"] for one in chosen),
            *(history[name] for name in ("keys", "operations", "unknown", "sequential reads")),
            *(sum(len(one[name]) for one in chosen) for name in ("violations", "undecided")),
        ]
        yield f"| {' | '.join(map(str, cells))} |"


def _counts(runs: Sequence[Figures], field: str, title: str) -> Iterator[str]:
    """A table of counters, with a column for each kind of controllers."""
    counts = {
        kind: sum((Counter(one[field]) for one in runs if one["controllers"] == kind), Counter[str]())
        for kind in NAMES
    }
    yield f"| {title} | {' | '.join(NAMES.values())} |"
    yield "|" + "--|" * (1 + len(NAMES))
    for name in sorted(set().union(*counts.values())):
        yield f"| {name} | {' | '.join(str(counts[kind][name]) for kind in NAMES)} |"


def _finds(runs: Sequence[Figures]) -> Iterator[str]:
    """One item for each run with a find, with its first violation; or that there is none."""
    found = [one for one in runs if one["found"]]
    if not found:
        yield "- none"
    for one in found:
        controllers, brokers, faults = _scenario(one)
        first = " ".join((one["violations"] or [one["found"]])[0].split())[:FIND_CHARACTERS_MAX]
        keys = Counter(text.split()[0] for text in one["violations"])
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(keys.items()))
        yield (
            f"- {NAMES[controllers]}, seed {one['seed']}, {one['minutes']:.1f} minutes, {brokers} brokers,"
            f" {faults} faults{', keys: ' if kinds else ''}{kinds}: `{first}`"
        )


def _scenario(one: Figures) -> tuple[str, int, str]:
    return one["controllers"], one["brokers"], one["kind of faults"]


def write_page(page: Path, text: str) -> None:
    before, _, rest = page.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def runs_of(page: Path) -> int:
    """Returns of how many runs the page is."""
    told = re.search(rf"{BEGIN}\nOf (\d+) runs", page.read_text())
    return int(told[1]) if told else 0


def read_runs(directory: Path) -> list[Figures]:
    """Returns the figures of the present commit."""
    present = commit()
    every = [json.loads(path.read_text()) for path in sorted(directory.glob("*.json"))]
    return [one for one in every if one.get("commit") == present]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--figures", type=Path, default=ROOT / "build/reliability")
    parser.add_argument("--controllers", choices=sorted(NAMES), help="only these")
    parser.add_argument("--replace", action="store_true", help="also a page of more runs")
    options = parser.parse_args()
    options.figures.mkdir(parents=True, exist_ok=True)
    scenarios = [one for one in SCENARIOS if options.controllers in (None, one[0])]
    failures = run_all(options.hours, options.seed, options.figures, scenarios)
    runs = read_runs(options.figures)
    if not runs:
        failures.append(f"{options.figures} has no figures of this commit")
    elif len(runs) < runs_of(PAGE) and not options.replace:
        failures.append(
            f"{PAGE.name} is of {runs_of(PAGE)} runs, and these are {len(runs)}: run more, or --replace it"
        )
    if failures:
        print(*failures, f"{PAGE.name} is not written", sep="\n")
        return 1
    write_page(PAGE, report(runs))
    broke = [one for one in runs if one["found"].startswith(BROKE)]
    found = [one for one in runs if one["found"] and one["controllers"] == "kraftctl" and one not in broke]
    print(f"{len(runs)} runs; {len(found)} of kraftctl found something, {len(broke)} broke")
    print(f"{PAGE.name} is written")
    return 1 if found or broke else 0


if __name__ == "__main__":
    sys.exit(main())
