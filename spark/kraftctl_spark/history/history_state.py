"""The state that a history continues from: open versions, their files, and the known ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from kraftctl_spark.history.damage import read_file
from kraftctl_spark.history.history_manifest import HistoryManifest
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.open_files import OpenFiles
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions.steps import Step
from kraftctl_spark.history.raw_records import steps_of
from kraftctl_spark.history.schema import KNOWN_RANGES, decode_open
from kraftctl_spark.history.stage import ONE_BY_ONE, HistoryStage
from kraftctl_spark.history.version_files import MakeRows
from kraftctl_spark.history.versions.kinds import PARTITIONS
from kraftctl_spark.history.versions.versions import Version, beginning
from kraftctl_spark.tables.manifest import Manifest

WriteRows = Callable[[MakeRows], None]
"""Takes more rows, by table, that will not change any more."""


class HistoryState:
    """The state of a history that goes up to `end`."""

    def __init__(self, cluster_id: str, end: int = 0, stage: HistoryStage | None = None) -> None:
        self.cluster_id = cluster_id
        self.end = end
        self.stage = stage or HistoryStage(cluster_id)
        self.ranges: list[KnownRange] = []
        self.of_kind = {name: OpenFiles(versions) for name, versions in self.stage.versions.items()}

    @property
    def open_files(self) -> dict[str, OpenFiles | OpenPartitions]:
        """The files with open versions, of all kinds."""
        return {**self.of_kind, PARTITIONS.name: self.stage.partitions.open}

    @staticmethod
    def load(output: Path, manifest: HistoryManifest) -> HistoryState:
        """Loads the files of a manifest: the cost is that of open versions, however long the history is.

        Raises ExportRefusedError for a damaged one.
        """

        def read(kind: str) -> list[tuple[str, pa.Table]]:
            files = manifest.of(kind, still_open=True)
            return [(file.path, read_file(output / file.path)) for file in files]

        in_files = {
            kind.name: [(path, decode_open(kind, rows)) for path, rows in read(kind.name)]
            for kind in ONE_BY_ONE
        }
        found: dict[str, list[Version]] = {
            name: sorted((version for _, versions in files for version in versions), key=beginning)
            for name, files in in_files.items()
        }
        partitions = OpenPartitions()
        partitions.load(read(PARTITIONS.name))
        stage = HistoryStage(manifest.cluster_id, found, partitions)
        state = HistoryState(manifest.cluster_id, manifest.end, stage)
        for name, files in in_files.items():
            for path, versions in files:
                state.of_kind[name].load(path, versions)
        for _, rows in read(KNOWN_RANGES):
            state.ranges = decode_ranges(rows)
        return state

    def advance(self, tables: Path, manifests: Sequence[Manifest], write: WriteRows) -> None:
        """Applies the records of consecutive batches, or of a snapshot, that are not in the history yet."""
        manifest = manifests[0]
        if manifest.snapshot or not self.ranges:
            if self.ranges:
                self.stage.end_at_gap(self.end, self.ranges[-1].end_time_us)
            self.ranges.append(KnownRange.beginning_with(tables, manifest))
            if manifest.snapshot:
                begun = self.ranges[-1]
                self.stage.begin_with_snapshot(
                    begun.start_offset,
                    begun.start_time_us,
                    f"of everything before offset {manifest.end}; offsets {manifest.start} to "
                    f"{manifest.end - 1} are not in the log",
                )
        for step in _read_ahead(steps_of(tables, manifests, self.end)):
            self.stage.apply(step)
            self._write(write)
        self._write(write)
        for manifest in manifests:
            self.ranges[-1].extend(tables, manifest)
        self.end = manifests[-1].end

    def _write(self, write: WriteRows) -> None:
        outcome = self.stage.take()
        for name, closed in outcome.closed.items():
            self.of_kind[name].ended(closed)
        write(outcome.rows)


def _read_ahead(steps: Iterator[Step]) -> Iterator[Step]:
    """Reads the next one ahead, on a thread."""
    with ThreadPoolExecutor(1) as pool:
        upcoming = pool.submit(next, steps, None)
        while (step := upcoming.result()) is not None:
            upcoming = pool.submit(next, steps, None)
            yield step
