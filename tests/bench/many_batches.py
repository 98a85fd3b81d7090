"""A day of small batches in one output: the CPU of the first and of the last ones, and what is left of them.

`python tests/bench/many_batches.py [--batches 4000] [--history] [--keep-removed-s 0]`
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.log.log_location import DirectoryLocation
from kraftctl_spark.tables.commit_log import COMMITS, STATES
from kraftctl_spark.tables.compaction import RegularCompaction
from kraftctl_spark.tables.output import Output
from tests.spark.log_directory import CLUSTER_ID, LogDirectory
from tests.spark.typed_export import batches_of, exporting, mixed_value

RECORDS_PER_BATCH = 9
COMPACT_AFTER = 60
"""As `run` does."""

SHOWN = 100
PRINTED = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=4_000)
    parser.add_argument("--history", action="store_true")
    parser.add_argument("--keep-removed-s", type=int, default=0)
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        place = Path(directory)
        times_s = export_batches(place, options.batches, options.history, options.keep_removed_s * 1000)
        print_report(place / "tables", times_s)


def export_batches(place: Path, count: int, history: bool, keep_ms: int) -> list[float]:
    """Returns the CPU of each batch, with its tasks, compactions and history, all in this process."""
    log = LogDirectory(place / "log")
    times_s: list[float] = []
    location = DirectoryLocation(log.path, assume_committed=True)
    output = Output(place / "tables")
    compaction = RegularCompaction(output, COMPACT_AFTER, keep_ms)
    versions = HistoryTables.beside(output, keep_ms)
    with exporting(place / "tables", location, cluster_id=CLUSTER_ID) as exporter:
        while len(times_s) < count:
            end = log.end_offset + RECORDS_PER_BATCH
            values = {offset: mixed_value(offset) for offset in range(log.end_offset, end)}
            for batch in batches_of(values, size=RECORDS_PER_BATCH):
                log.log.append(batch)
            log.log.flush()
            began_s = time.process_time()
            exporter.export_to(end, 1)
            if history:
                versions.catch_up()
            compaction.after_batch()
            times_s.append(time.process_time() - began_s)
            if len(times_s) % PRINTED == 0:
                recent_s = sum(times_s[-PRINTED:])
                print(f"{len(times_s)} batches, the last {PRINTED} took {recent_s:.1f} s", flush=True)
    log.close()
    return times_s


def print_report(tables: Path, times_s: list[float]) -> None:
    for first in (0, len(times_s) // 2, len(times_s) - SHOWN):
        some = sorted(times_s[first : first + SHOWN])
        mean_ms, median_ms = 1000 * sum(some) / len(some), 1000 * some[len(some) // 2]
        print(
            f"batches {first + 1:>5} to {first + len(some):>5}: {mean_ms:.1f} ms each, median {median_ms:.1f}"
        )
    print(f"all: {sum(times_s):.1f} s for {len(times_s)}")
    for name in (COMMITS, STATES):
        sizes = [path.stat().st_size for path in (tables / name).iterdir()]
        print(f"{name}: {len(sizes)} files, {sum(sizes) / 1e6:.2f} MB")
    print(f"Parquet files: {len(list(tables.rglob('*.parquet')))}")


if __name__ == "__main__":
    main()
