"""What both engines need for one log, from the start of the command to its end, and other forms of the log.

`python tests/bench/export_engines.py --records 2000000`: the log is read from a directory, so that no
controller takes part; each export has processes of its own. Memory is that of all processes at the same time,
with shared pages counted once (PSS).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.settings import random_id
from kraftctl_spark.commands.history import DIRECTORY as HISTORY
from tests.bench import codec, export_log
from tests.bench.processes import DRIVER, ProcessWatch

RECORDS = 2_000_000
RUNS = 3
ENGINES = {"spark": ("--master", "local[2]"), "local": ("--workers", "2")}
DUMPED_BYTES = 16 * 1024 * 1024
"""The dump of so much of the log gives the ratio for all of it: a dump takes longer than both exports."""


@dataclass
class Used:
    """What an export has used."""

    wall_s: float
    cpu_s: dict[str, float]
    peak_bytes: int
    tables_bytes: int
    history_bytes: int
    load: float


def export(engine: str, log: Path, output: Path, *flags: str) -> Used:
    """Runs an export to its end."""
    command = [sys.executable, "-m", "kraftctl_spark.cli", "run", "--available-now", "--engine", engine]
    where = ["--directory", str(log), "--output", str(output)]
    began_s, own_s = time.perf_counter(), time.process_time()
    with ProcessWatch(in_total=True) as watch:
        subprocess.run([*command, *where, *ENGINES[engine], *flags], check=True, stderr=subprocess.DEVNULL)
    cpu_s = watch.cpu_s()
    cpu_s[DRIVER] -= time.process_time() - own_s  # that of watching
    history = size_of(output / HISTORY)
    return Used(
        wall_s=time.perf_counter() - began_s,
        cpu_s=cpu_s,
        peak_bytes=watch.peak_total_bytes,
        tables_bytes=size_of(output) - history,
        history_bytes=history,
        load=os.getloadavg()[0],
    )


def size_of(directory: Path) -> int:
    """The size of all Parquet files below it."""
    return sum(path.stat().st_size for path in directory.rglob("*.parquet"))


def dumped_bytes(log: Path) -> float:
    """The bytes of a JSON dump for each byte of the log."""
    (first, *_) = sorted(log.glob("*.log"))
    with TemporaryDirectory() as scratch:
        part = Path(scratch) / first.name
        with first.open("rb") as whole:
            part.write_bytes(whole.read(DUMPED_BYTES))
        command = [sys.executable, "-m", "kraftctl", "dump", "log", str(part)]
        printed = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        ).stdout
        return len(printed) / part.stat().st_size


def lines(log: Path, records: int, scratch: Path, runs: int) -> Iterator[str]:
    """Yields rows of a table in Markdown; of each kind of export, that with the median of CPU time."""
    size = sum(path.stat().st_size for path in log.glob("*.log"))
    yield f"| the log | {size / records:.0f} | | | |"
    yield f"| its dump as JSON | {dumped_bytes(log) * size / records:.0f} | | | |"
    for flags, what in (((), "tables"), (("--history",), "tables and history")):
        for engine in ENGINES:
            used = []
            for _ in range(runs):
                with TemporaryDirectory(dir=scratch) as output:
                    used.append(export(engine, log.parent, Path(output), *flags))
            used.sort(key=lambda one: sum(one.cpu_s.values()))
            median = used[len(used) // 2]
            cpu_us = sum(median.cpu_s.values()) / records * 1e6
            stored = (median.tables_bytes + median.history_bytes) / records
            took = f"{median.wall_s:.0f} s, load {median.load:.0f}"
            memory = f"{median.peak_bytes / 1e6:.0f} MB"
            yield f"| {what}, `--engine {engine}` | {stored:.0f} | {cpu_us:.1f} us | {took} | {memory} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=RECORDS, help=f"in the log [{RECORDS}]")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of which medians are taken [{RUNS}]")
    options = parser.parse_args()
    if not codec.compiled():
        print("These are the sources, uncompiled: the numbers say little. `make` compiles first.")
    with TemporaryDirectory(prefix="bench-engines-") as scratch:
        node = KraftctlController(1, Path(scratch) / "controller", random_id())
        node.format()
        export_log.write_log(node.metadata_directory, options.records)
        print("| | bytes per record | CPU per record | time | memory at most |\n|---|---|---|---|---|")
        for line in lines(node.metadata_directory, options.records, Path(scratch), options.runs):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
