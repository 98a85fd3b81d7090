"""The state that a history continues from: open versions, their files, and the known ranges."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from kraftctl_spark.history.damage import read_file
from kraftctl_spark.history.history_manifest import HistoryManifest
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.not_known import NotKnownRows, decode_not_known
from kraftctl_spark.history.open_files import OpenFiles
from kraftctl_spark.history.partitions.open_partitions import OpenPartitions
from kraftctl_spark.history.partitions.steps import Step
from kraftctl_spark.history.raw_records import snapshot_time_us, steps_of
from kraftctl_spark.history.schema import KNOWN_RANGES, NOT_KNOWN, decode_open
from kraftctl_spark.history.stage import ONE_BY_ONE, HistoryStage
from kraftctl_spark.history.version_files import MakeRows
from kraftctl_spark.history.versions.events import Event
from kraftctl_spark.history.versions.kinds import KINDS, PARTITIONS
from kraftctl_spark.history.versions.quarantine import Quarantined
from kraftctl_spark.history.versions.versions import Version, beginning
from kraftctl_spark.tables.checked_file import Sources
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.not_understood import NotUnderstood, not_understood

log = logging.getLogger(__name__)

WriteRows = Callable[[MakeRows], None]
"""Takes more rows, by table, that will not change any more."""


class HistoryState:
    """The state of a history that goes up to `end`."""

    def __init__(self, cluster_id: str, end: int = 0, stage: HistoryStage | None = None) -> None:
        self.cluster_id = cluster_id
        self.end = end
        self.stage = stage or HistoryStage(cluster_id)
        self.ranges: list[KnownRange] = []
        self.not_known = NotKnownRows(cluster_id)
        self.of_kind = {name: OpenFiles(versions) for name, versions in self.stage.versions.items()}

    @property
    def open_files(self) -> dict[str, OpenFiles | OpenPartitions]:
        """The files with open versions, of all kinds."""
        return {**self.of_kind, PARTITIONS.name: self.stage.partitions.open}

    @staticmethod
    def load(output: Sources, manifest: HistoryManifest) -> HistoryState:
        """Loads the files of a manifest: the cost is that of open versions, however long the history is.

        Raises ExportRefusedError for a damaged one.
        """

        def read(kind: str) -> list[tuple[str, pa.Table]]:
            files = manifest.of(kind, still_open=True)
            return [(file.path, read_file(output / file.path)) for file in files]

        not_known = [row for _, rows in read(NOT_KNOWN) for row in decode_not_known(rows)]
        return loaded_state(
            manifest.cluster_id,
            manifest.end,
            {kind.name: read(kind.name) for kind in KINDS},
            [one for _, rows in read(KNOWN_RANGES) for one in decode_ranges(rows)],
            NotKnownRows(manifest.cluster_id, not_known),
        )

    @property
    def is_lost(self) -> bool:
        """Returns whether nothing is known at the end: records there were not understood."""
        return bool(self.ranges) and self.ranges[-1].end_offset != self.end

    def advance(self, tables: Sources, manifests: Sequence[Manifest], write: WriteRows) -> None:
        """Applies the records of consecutive batches, or of a snapshot, that are not in the history yet."""
        knows = self._begin(tables, manifests[0])
        found = [_Found.in_log(one) for part in manifests for one in not_understood(tables, part, self.end)]
        if manifests[0].snapshot:
            found = [
                _Found.in_snapshot(one, tables, manifests[0]) for one in not_understood(tables, manifests[0])
            ]
        ends = min((one.offset for one in found if one.record.lost is None), default=None)
        notes = _Notes(self.not_known, found)
        if knows and not (manifests[0].snapshot and ends is not None):
            stop = _LAST if ends is None else ends
            known_to = self.end
            for one in sorted((one for one in found if one.offset < stop), key=lambda one: one.offset):
                if lost := set(one.record.lost or ()) - self.stage.lost:
                    if not manifests[0].snapshot:
                        self._apply(steps_of(tables, manifests, known_to, one.offset), notes, write)
                        known_to = one.offset
                    self._lose_some(sorted(lost), one)
            self._apply(steps_of(tables, manifests, known_to, stop), notes, write)
            self._extend(tables, manifests, ends)
        rest = notes.rest()
        if knows and ends is not None:
            self._lose(ends, rest)
        elif rest:
            self.stage.add_events(rest)
        self._write(write)
        self.end = manifests[-1].end

    def _apply(self, steps: Iterator[Step], notes: _Notes, write: WriteRows) -> None:
        for step in _read_ahead(steps):
            self.stage.apply(step, partial(notes.of, step))
            self._write(write)

    def _begin(self, tables: Sources, manifest: Manifest) -> bool:
        """Begins a range with a snapshot, or with the log; returns whether the state is known there."""
        if self.ranges and not manifest.snapshot:
            return not self.is_lost
        if self.ranges and not self.is_lost:
            log.warning(
                "the history has a gap from offset %d to %d: what changed there is not known",
                self.end,
                manifest.end - 1,
            )
            self.stage.end_at_gap(self.end, self.ranges[-1].end_time_us)
        begun = KnownRange.beginning_with(tables, manifest)
        self.ranges.append(begun)
        if manifest.snapshot:
            self.not_known.end(begun.start_offset, begun.start_time_us)
            self.stage.begin_with_snapshot(
                begun.start_offset,
                begun.start_time_us,
                f"of everything before offset {manifest.end}; offsets {manifest.start} to "
                f"{manifest.end - 1} are not in the log",
            )
        return True

    def _extend(self, tables: Sources, manifests: Sequence[Manifest], ends: int | None) -> None:
        """Extends the known range over what was applied."""
        for manifest in manifests:
            if ends is None or manifest.end <= ends:
                self.ranges[-1].extend(tables, manifest)
            elif manifest.start < ends:
                self.ranges[-1].extend_to(tables, manifest, ends)

    def _lose_some(self, lost: Sequence[str], found: _Found) -> None:
        """Ends what is known of some tables at a record that was not understood."""
        log.warning(
            "the history does not know %s from offset %d on: %s; a release that knows it decodes it again",
            *(", ".join(lost), found.offset, found.record.subject),
        )
        self.stage.lose(lost, found.offset, found.time_us)

    def _lose(self, offset: int, why: list[Event]) -> None:
        """Ends the known range at a record that was not understood."""
        log.warning(
            "the history is not known from offset %d on: %s; a release that knows it decodes it again",
            offset,
            next((one.subject for one in why if one.offset == offset), "the record there"),
        )
        self.stage.end_at_gap(offset, self.ranges[-1].end_time_us, why)

    def _write(self, write: WriteRows) -> None:
        outcome = self.stage.take()
        for name, closed in outcome.closed.items():
            self.of_kind[name].ended(closed)
        write(outcome.rows)


def loaded_state(
    cluster_id: str,
    end: int,
    still_open: Mapping[str, list[tuple[str, pa.Table]]],
    ranges: list[KnownRange],
    not_known: NotKnownRows,
) -> HistoryState:
    """Returns the state at an offset from its open versions by kind, in files."""
    in_files = {
        kind.name: [(path, decode_open(kind, rows)) for path, rows in still_open[kind.name]]
        for kind in ONE_BY_ONE
    }
    found: dict[str, list[Version]] = {
        name: sorted((version for _, versions in files for version in versions), key=beginning)
        for name, files in in_files.items()
    }
    partitions = OpenPartitions()
    partitions.load(still_open[PARTITIONS.name])
    stage = HistoryStage(cluster_id, found, partitions, not_known.lost)
    state = HistoryState(cluster_id, end, stage)
    state.ranges, state.not_known = ranges, not_known
    for name, files in in_files.items():
        for path, versions in files:
            state.of_kind[name].load(path, versions)
    return state


class _Found(NamedTuple):
    """Records that were not understood, and where the first of them is."""

    record: NotUnderstood
    offset: int
    time_us: int | None

    @staticmethod
    def in_log(record: NotUnderstood) -> _Found:
        return _Found(record, record.place, record.time_us)

    @staticmethod
    def in_snapshot(record: NotUnderstood, tables: Sources, manifest: Manifest) -> _Found:
        """Returns it at the end of the snapshot, as everything in it."""
        return _Found(record, manifest.end - 1, snapshot_time_us(tables, manifest))


class _Notes:
    """The events of what is not known, each with the step that it is in."""

    def __init__(self, rows: NotKnownRows, found: list[_Found]) -> None:
        self._rows = rows
        self._found = sorted(found, key=lambda one: one.offset)

    def of(self, step: Step, quarantined: list[Quarantined]) -> list[Event]:
        """Returns those up to the end of the step, in the order of the log."""
        last = max(int(rows.column("offset")[-1].as_py()) for rows in step.tables.values())
        events = [event for one in quarantined if (event := self._rows.quarantined(one)) is not None]
        return sorted(events + self._up_to(last), key=lambda one: one.offset)

    def rest(self) -> list[Event]:
        """Returns those behind the last step."""
        return self._up_to(_LAST)

    def _up_to(self, last: int) -> list[Event]:
        here = [one for one in self._found if one.offset <= last]
        self._found = self._found[len(here) :]
        return [
            event for one in here for event in self._rows.understood_as(one.record, one.offset, one.time_us)
        ]


_LAST = 2**63 - 1


def _read_ahead(steps: Iterator[Step]) -> Iterator[Step]:
    """Reads the next one ahead, on a thread."""
    with ThreadPoolExecutor(1) as pool:
        upcoming = pool.submit(next, steps, None)
        while (step := upcoming.result()) is not None:
            upcoming = pool.submit(next, steps, None)
            yield step
