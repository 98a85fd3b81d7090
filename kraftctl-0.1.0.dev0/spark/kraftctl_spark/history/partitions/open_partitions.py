"""The open versions of all partitions as columns, and the files that have them."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history import open_files
from kraftctl_spark.history.partitions.partition_columns import (
    KEY,
    TYPES,
    VERSION,
    Columns,
    Numbering,
    array,
    joined,
    none,
    taken,
    topic_numbers,
)
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.versions.kinds import PARTITIONS

FILE = "file"
"""The number of the file that has the row; null for versions that began after the last commit."""

SPARE_ROWS = 50_000
"""This many ended rows, and as many as are open, are kept: removing them costs a pass over all."""

_NO_NAME = -1
_ENDS = ("valid_to_offset", "valid_to_time", "ended_by")
_NOT_ENDED = {name: SCHEMAS[PARTITIONS.name].field(name).type for name in _ENDS}


class OpenPartitions:
    """The open versions: rows are added, and marked when they end.

    A pass over one column of all finds those of some keys. It takes a millisecond for 100,000, less than
    looking for a few thousand keys in a Python dictionary, which would also have to be kept.
    """

    def __init__(self) -> None:
        self.numbering = Numbering()
        self._clear()
        self._paths: dict[int, str] = {}
        """The paths of the files by number."""
        self._open_rows: dict[int, int] = {}
        """The number of rows of each file that are still open."""
        self._touched: set[int] = set()
        self._rewritten: list[int] = []
        """The files whose paths are not known yet."""
        self._files = 0

    def _clear(self) -> None:
        self._old = self._young = _with_file(none())
        """The older rows: the young ones are copied with each batch, until they are as many as these."""
        self._open = pa.array([], pa.bool_())
        """Says for each row whether it has not ended."""

    def load(self, files: Iterable[tuple[str, pa.Table]]) -> None:
        """Loads all files, each with its rows."""
        parts = []
        for path, rows in files:
            still_open = rows.filter(pc.is_null(rows.column("valid_to_offset")))
            self._paths[self._files] = path
            parts.append(still_open.append_column(FILE, self._new_file(still_open.num_rows)))
        if parts:
            rows = pa.concat_tables(parts)
            self._add(self.numbering.encoded(rows) | {FILE: array(rows.column(FILE))})

    def __len__(self) -> int:
        return int(self._open.true_count)

    def of_keys(self, keys: pa.Array) -> tuple[pa.Array, Columns, pa.Array]:
        """Which rows have the open versions of some keys, those versions in any order, and whose each is."""
        places = pc.index_in(self._column(KEY), value_set=keys)
        which = pc.and_(self._open, places.is_valid())
        return which, self._rows(which, VERSION), places.filter(which)

    def keys_of_topics(self, topics: pa.Array) -> pa.Array:
        """Returns the keys of some topics' partitions, in any order."""
        if not len(topics):  # As in most small batches.
            return pa.array([], TYPES[KEY])
        keys = self._column(KEY)
        return keys.filter(self._of(topic_numbers(keys), topics))

    def with_elr(self, name: str) -> Columns:
        """Returns keys in their order, those of a topic, or of all for an empty name."""
        empty, number = self.numbering.lists.number_of([]), self.numbering.names.number_of(name)
        has = pc.or_(*(pc.not_equal(self._column(elr), empty) for elr in ("elr", "last_known_elr")))
        if name:
            has = pc.and_(has, pc.equal(self._column("topic"), _NO_NAME if number is None else number))
        found = self._rows(pc.and_(has, self._open), VERSION)
        return taken(found, self.numbering.in_order_of_keys(found))

    def replace(self, which: pa.Array, ended: pa.Array, begun: Columns) -> None:
        """Ends those of these rows that have some keys, usually all, and adds versions, mostly of the
        same keys.
        """
        if which.true_count > len(ended):
            which = self._of(self._column(KEY), ended)
        self._end(which)
        self._add(_with_file(begun))

    def end_all(self) -> Columns:
        """Returns all versions in the order in which they began; none is open any more."""
        rows = self._rows(self._open, VERSION)
        self._end(self._open)
        self._clear()
        return taken(rows, self.numbering.in_order(rows))

    def remove_ended(self) -> None:
        """Removes ended rows if they are many. Numbers of distinct texts and lists may change."""
        if len(self._open) <= 2 * len(self) + SPARE_ROWS:
            return
        rows = self.numbering.renumbered(self._rows(self._open, (*VERSION, FILE)))
        self._clear()
        self._add(rows)

    def rewrite(self, cluster_id: str, everything: bool = False) -> tuple[set[str], list[pa.Table]]:
        """Returns what `OpenFiles.rewrite` returns, for partitions."""
        files = self._column(FILE)
        begun = pc.and_(files.is_null(), self._open)
        if not (begun.true_count or self._touched or everything):
            return set(), []
        most = open_files.ROWS_MAX
        small = {file for file, rows in self._open_rows.items() if everything or rows < most // 2}
        replaced = small | self._touched
        chosen = pc.or_(begun, self._of(files, pa.array(sorted(replaced), pa.int32())))
        found = self._rows(chosen, VERSION)
        found = taken(found, self.numbering.in_order(found))
        self._end(chosen)
        self._touched = set()
        for file in replaced:
            del self._open_rows[file]
        decoded = self.numbering.meanings().decoded(found, _not_ended(len(found[KEY])), cluster_id)
        parts = [decoded.slice(first, most) for first in range(0, decoded.num_rows, most)]
        first_file = self._files
        files = pa.concat_arrays([self._new_file(part.num_rows) for part in parts] or [files.slice(0, 0)])
        self._rewritten = list(range(first_file, self._files))
        self._add(found | {FILE: files})
        return {self._paths.pop(file) for file in replaced}, parts

    def place(self, paths: Iterable[str]) -> None:
        """Takes new files, as `OpenFiles.place` does."""
        self._paths.update(zip(self._rewritten, paths, strict=True))
        self._rewritten = []

    def _new_file(self, rows: int) -> pa.Array:
        """Returns its number, for each of its rows."""
        number = self._files
        self._files += 1
        self._open_rows[number] = rows
        return pa.repeat(pa.scalar(number, pa.int32()), rows)

    def _of(self, column: pa.Array, values: pa.Array) -> pa.Array:
        """Returns which rows are open and have one of the values in a column."""
        return pc.and_(self._open, pc.is_in(column, value_set=values))

    def _end(self, rows: pa.Array) -> None:
        self._open = pc.and_not(self._open, rows)
        for found in self._column(FILE).filter(rows).drop_null().value_counts().to_pylist():
            self._open_rows[found["values"]] -= found["counts"]
            self._touched.add(found["values"])

    def _add(self, rows: Columns) -> None:
        self._open = pa.concat_arrays([self._open, pa.repeat(True, len(rows[KEY]))])
        self._young = joined([self._young, rows], self._young)
        if len(self._young[KEY]) > len(self._old[KEY]):
            self._old = joined([self._old, self._young], self._old)
            self._young = taken(self._young, pa.array([], pa.int64()))

    def _column(self, name: str) -> pa.Array:
        """Returns a column of all rows, including those that have ended."""
        return pa.concat_arrays([self._old[name], self._young[name]])

    def _rows(self, which: pa.Array, names: Iterable[str]) -> Columns:
        count = len(self._old[KEY])
        old, young = pc.indices_nonzero(which.slice(0, count)), pc.indices_nonzero(which.slice(count))
        parts = [(self._old, old), (self._young, young)]
        return {name: pa.concat_arrays([part[name].take(rows) for part, rows in parts]) for name in names}


def _with_file(rows: Columns) -> Columns:
    """Adds an empty column for the file to rows that are in no file yet."""
    return rows | {FILE: pa.nulls(len(rows[KEY]), pa.int32())}


def _not_ended(count: int) -> Columns:
    return {name: pa.nulls(count, kind) for name, kind in _NOT_ENDED.items()}
