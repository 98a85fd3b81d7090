"""The ranges of offsets at which the state is known; between two of them is a gap."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import pyarrow as pa

from kraftctl_spark.history.raw_records import first_time_us, last_time_us, time_before_us
from kraftctl_spark.history.schema import KNOWN_RANGES_SCHEMA, TIME, encode_rows
from kraftctl_spark.tables.checked_file import Sources
from kraftctl_spark.tables.manifest import Manifest


@dataclass
class KnownRange:
    """A range, with its fields in the order of the columns."""

    start_offset: int
    """The first offset; of a snapshot, the last offset that it contains."""
    start_time_us: int | None
    from_snapshot: bool
    end_offset: int
    end_time_us: int | None
    cluster_id: str

    @staticmethod
    def beginning_with(tables: Sources, manifest: Manifest) -> KnownRange:
        """Returns a range that is empty until it is `extended`."""
        if manifest.snapshot:
            start, time_us = manifest.end - 1, last_time_us(tables, manifest)
        else:
            start, time_us = manifest.start, first_time_us(tables, manifest)
        return KnownRange(start, time_us, manifest.snapshot, start, None, manifest.cluster_id)

    def extend(self, tables: Sources, manifest: Manifest) -> None:
        """Extends the range to the end of the manifest."""
        self.end_offset = manifest.end
        time_us = last_time_us(tables, manifest)
        self.end_time_us = self.end_time_us if time_us is None else time_us

    def extend_to(self, tables: Sources, manifest: Manifest, offset: int) -> None:
        """Extends the range to an offset in the manifest, which a snapshot never has."""
        self.end_offset = offset
        time_us = time_before_us(tables, manifest, offset)
        self.end_time_us = self.end_time_us if time_us is None else time_us


def encode_ranges(ranges: list[KnownRange]) -> pa.Table:
    return encode_rows(KNOWN_RANGES_SCHEMA, [astuple(one) for one in ranges])


def decode_ranges(table: pa.Table) -> list[KnownRange]:
    columns = [
        (column.cast(pa.int64()) if column.type == TIME else column).to_pylist() for column in table.columns
    ]
    return [KnownRange(*row) for row in zip(*columns, strict=True)]
