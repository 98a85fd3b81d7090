"""What a history continues from: the open versions, the files that have them, and the known ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.history.history_manifest import HistoryManifest
from kraftctl_spark.history.kinds import KINDS
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.open_files import OpenFiles
from kraftctl_spark.history.raw_records import records_of
from kraftctl_spark.history.schema import EVENTS, KNOWN_RANGES, decode_open, encode_events, encode_versions
from kraftctl_spark.history.stage import HistoryStage, Record
from kraftctl_spark.history.versions import Version, beginning
from kraftctl_spark.tables.manifest import Manifest

RECORDS_PER_STEP = 50_000
"""How many records are applied before what they closed is written."""

WriteRows = Callable[[str, pa.Table], None]
"""Takes more rows of a table that will not change any more."""


class HistoryState:
    """Of a history that goes up to `end`."""

    def __init__(self) -> None:
        self.end = 0
        self.cluster_id = ""
        self.stage = HistoryStage()
        self.ranges: list[KnownRange] = []
        self.open_files = {kind.name: OpenFiles() for kind in KINDS}

    @staticmethod
    def load(output: Path, manifest: HistoryManifest) -> HistoryState:
        """From the files of a manifest: costs what is open, however long the history is."""
        state = HistoryState()
        state.end, state.cluster_id = manifest.end, manifest.cluster_id
        found: dict[str, list[Version]] = {}
        for kind in KINDS:
            versions: list[Version] = []
            for file in manifest.of(kind.name, still_open=True):
                of_file = decode_open(kind, pq.ParquetFile(output / file.path).read())
                state.open_files[kind.name].place(file.path, of_file)
                versions += of_file
            found[kind.name] = sorted(versions, key=beginning)
        state.stage = HistoryStage(found)
        for file in manifest.of(KNOWN_RANGES, still_open=True):
            state.ranges = decode_ranges(pq.ParquetFile(output / file.path).read())
        return state

    def advance(self, tables: Path, manifest: Manifest, write: WriteRows) -> None:
        """Applies the records of a batch of the typed tables that are not in the history yet."""
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
        self.cluster_id = manifest.cluster_id
        for step in _steps(records_of(tables, manifest, self.end)):
            self.stage.apply(step)
            self._write(write)
        self._write(write)
        self.ranges[-1].extend(tables, manifest)
        self.end = manifest.end

    def _write(self, write: WriteRows) -> None:
        if found := self.stage.take_events():
            write(EVENTS, encode_events(found, self.cluster_id))
        for name, closed in self.stage.take_closed().items():
            if closed:
                kind = self.stage.versions[name].kind
                self.open_files[name].ended(closed)
                write(name, encode_versions(kind, closed, self.cluster_id))


def _steps(records: Iterator[Record]) -> Iterator[list[Record]]:
    step: list[Record] = []
    for record in records:
        step.append(record)
        if len(step) == RECORDS_PER_STEP:
            yield step
            step = []
    yield step
