"""`make bench`: Java's controller, the same without linger, and kraftctl under the same load, in turn.

`run.py --only heartbeats --rounds 1 --window 2 --warm-up 5` for a quick look. All windows are written to
build/bench/results.json, with `--full` to large.json beside it. `publish.py` makes table and plot of
docs/performance.md from both.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[3]))

from tests.bench import codec
from tests.bench.compare import markdown, targets
from tests.bench.compare.forced_write import forced_write_ms
from tests.bench.compare.interleaved import FAILURES, Pace, Sample, measure
from tests.bench.compare.results import Results, about
from tests.bench.compare.scenario import Scenario
from tests.bench.compare.scenarios import (
    alter_partition,
    broker_failure,
    connections,
    create_topics,
    heartbeats,
    idle,
    large_cluster,
    quorum,
)
from tests.bench.compare.subjects import SUBJECTS

DIRECTORY: Final = Path(__file__).resolve().parents[3] / "build" / "bench"
SCENARIOS: Final[dict[str, Scenario]] = {
    scenario.name: scenario
    for scenario in (
        alter_partition.SCENARIO,
        heartbeats.SCENARIO,
        create_topics.SCENARIO,
        broker_failure.SCENARIO,
        quorum.SCENARIO,
        quorum.FAILOVER,
        idle.SCENARIO,
        connections.SCENARIO,
        large_cluster.EMPTY,
        large_cluster.LOG,
        large_cluster.SNAPSHOT,
    )
}
LARGE: Final[dict[str, Scenario]] = {
    scenario.name: scenario for scenario in (broker_failure.LARGE, *large_cluster.LARGE)
}
"""Of `make bench-full`."""
ALL: Final = {**SCENARIOS, **LARGE}


def run(
    scenario: Scenario,
    names: Sequence[str],
    parts: Sequence[str],
    directory: Path,
    pace: Pace,
    on_failure: Callable[[str], None],
) -> Iterator[Sample]:
    """Its subjects with these names, and its loads whose name has one of `parts`; all if none is given."""
    subjects = [subject for subject in scenario.subjects if not names or subject.name in names]
    loads = [load for load in scenario.loads if not parts or any(part in load.name for part in parts)]
    try:
        yield from measure(scenario, subjects, loads, directory, pace, on_failure)
    except FAILURES as error:
        on_failure(f"{scenario.name}: {type(error).__name__}: {error}")


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    # The controllers are those that are installed, not the sources in the current directory.
    os.environ["PYTHONSAFEPATH"] = "1"
    pace = Pace(options.rounds, options.window, options.warm_up)
    if not codec.compiled():
        print("These are the sources, uncompiled: the figures say little. `make bench` compiles first.")
    if options.kraftctl:
        os.environ["KRAFTCTL_COMMAND"] = options.kraftctl
    names = options.only or list(LARGE if options.full else SCENARIOS)
    output = options.output or DIRECTORY / ("large.json" if options.full else "results.json")
    facts = about(pace, codec.compiled())
    samples: list[Sample] = []
    failures: list[str] = []
    # Beside the results, not in a temporary file system in memory, where forcing a write costs nothing.
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="running-", dir=output.parent) as directory:
        facts[targets.FORCED_WRITE] = f"{forced_write_ms(Path(directory)):.3f}"
        for name in names:
            samples += run(ALL[name], options.subject, options.load, Path(directory), pace, failures.append)
            results = Results(facts, samples, failures)
            results.write(output)
            print(f"\n{ALL[name].title}\n\n{markdown.table(results, name)}", flush=True)
    print(f"\n{markdown.render(targets.rows(results))}")
    for failure in failures:
        print(f"\nfailed: {failure}")
    return 1 if failures else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", choices=ALL, action="append", default=[], help="may be repeated")
    parser.add_argument("--full", action="store_true", help="one and two million partitions instead")
    parser.add_argument("--load", action="append", default=[], help="part of its name; may be repeated")
    parser.add_argument("--subject", choices=[each.name for each in SUBJECTS], action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--window", type=float, default=2.0, help="seconds")
    parser.add_argument("--warm-up", type=float, default=5.0, help="seconds, before each load")
    parser.add_argument("--kraftctl", metavar="PATH", help="the executable; by default that of this python")
    parser.add_argument("--output", type=Path)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
