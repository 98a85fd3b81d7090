"""The measurements of an export, run by run, and the report about them."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass, field

from tests.bench.processes import DRIVER, KINDS, WORKERS
from tests.bench.table import Row

ALONE, ALONE_BY_TABLE = "pyarrow alone", "pyarrow alone, 1 file per table"
HISTORY_ALONE = "pyarrow alone, the history"
END_TO_END, WRITE = "end to end", "write step"
WITH_HISTORY = "end to end, with history"
LOCAL = "end to end, local"
READY_ARROW, READY_TUPLES = "ready Arrow batches", "ready tuples"
DECODED_ARROW, DECODED_TUPLES = "decoded to Arrow batches", "decoded to tuples"

END_TO_END_AT_LEAST = 0.5
WRITE_AT_LEAST = 1.0
ARROW_AT_LEAST = 4.5
WORKER_MAX_MB = 600.0


@dataclass
class Sample:
    """One run of one measurement."""

    wall_s: float
    cpu_s: dict[str, float]
    """By kind of process, see `processes.KINDS`."""
    peak_bytes: dict[str, int] = field(default_factory=dict)
    """Memory, also by kind of process; of the largest process."""
    load: float = field(default_factory=lambda: os.getloadavg()[0])
    """How many processes of the machine were runnable at the end, related or not."""


@dataclass
class Measured:
    """All samples by measurement, and memory."""

    counts: dict[str, int]
    """The number of records, by measurement."""
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    def add(self, what: str, sample: Sample) -> None:
        self.samples.setdefault(what, []).append(sample)

    def per_record_us(self, what: str) -> float:
        """The median."""
        return statistics.median(sample.wall_s for sample in self.samples[what]) / self.counts[what] * 1e6

    def rows(self) -> list[Row]:
        return [
            self._row(END_TO_END, "fetch, decode, write typed tables", ALONE, END_TO_END_AT_LEAST),
            self._row_with_history(),
            self._row(LOCAL, "the same tables with --engine local", ALONE, END_TO_END_AT_LEAST),
            self._row(WRITE, "write ready rows, 2 Spark tasks at a time", ALONE, WRITE_AT_LEAST),
            self._row(END_TO_END, "fetch, decode, write typed tables", ALONE_BY_TABLE, None),
            self._row(WRITE, "write ready rows, 2 Spark tasks at a time", ALONE_BY_TABLE, None),
            self._row(READY_ARROW, "source: ready Arrow batches", READY_TUPLES, ARROW_AT_LEAST),
            self._row(DECODED_ARROW, "source: fetch, decode, Arrow batches", DECODED_TUPLES, None),
            Row("memory of the largest Python worker", self._peak_mb(WORKERS), "MB", at_most=WORKER_MAX_MB),
            Row("memory of the driver's Python", self._peak_mb(DRIVER), "MB"),
        ]

    def _row_with_history(self) -> Row:
        """The rows that were written are those of the typed tables and those of the history."""
        alone_us = self.per_record_us(ALONE) + self.per_record_us(HISTORY_ALONE)
        return Row(
            "the same and the history",
            self.per_record_us(WITH_HISTORY),
            "us/record",
            f"{ALONE}, rows of both",
            alone_us,
            at_least=END_TO_END_AT_LEAST,
        )

    def _row(self, what: str, shown: str, other: str, at_least: float | None) -> Row:
        return Row(
            shown, self.per_record_us(what), "us/record", other, self.per_record_us(other), at_least=at_least
        )

    def _peak_mb(self, kind: str) -> float:
        """The maximum over all exports."""
        return max(sample.peak_bytes.get(kind, 0) for sample in self.samples[END_TO_END]) / 1e6

    def lines(self) -> list[str]:
        """Median, range and processor time of everything."""
        lines = []
        for what, samples in self.samples.items():
            walls = [sample.wall_s for sample in samples]
            cpu_s = [
                f"{kind} {used:.1f}"
                for kind in KINDS
                if (used := statistics.median(sample.cpu_s.get(kind, 0.0) for sample in samples)) >= 0.05
            ]
            loads = [sample.load for sample in samples]
            per_second = 1e3 / self.per_record_us(what)
            lines.append(
                f"{what:32} median {statistics.median(walls):6.2f} s ({min(walls):.2f} to {max(walls):.2f}), "
                f"{per_second:5.0f} k records/s, load {min(loads):.1f} to {max(loads):.1f}, "
                f"CPU s: {', '.join(cpu_s)}"
            )
        return lines
