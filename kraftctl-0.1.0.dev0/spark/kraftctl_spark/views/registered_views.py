"""Temporary views in a user's session: no view or table that shows something else is replaced.

A registered view says in the metadata of its first column what it shows. A name without that belongs to the
user; one with another cluster, or with a state at a point instead of the end, to another registration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MARK = "kraftctl"


class NameTakenError(ValueError):
    """A view would replace one that shows something else; the message names it."""


@dataclass(frozen=True)
class RegisteredViews:
    """The views of one registration; `prefix` is before each name."""

    spark: SparkSession
    cluster_id: str
    at_point: bool
    prefix: str

    def check(self, names: Iterable[str]) -> None:
        """Checks a name before the first view is registered; NameTakenError."""
        wanted = {f"{self.prefix}{name}".lower(): name for name in names}
        existing = {row["tableName"] for row in self.spark.sql("SHOW TABLES").collect()}
        for full_name in sorted(wanted.keys() & existing):
            schema = self.spark.table(f"`{full_name}`").schema
            mark = schema.fields[0].metadata.get(MARK) if schema.fields else None
            if mark != self._mark(wanted[full_name]):
                raise NameTakenError(
                    f"{full_name} exists and shows {_shown(mark)}, so it is not replaced: "
                    "give another prefix=..."
                )

    def register(self, name: str, frame: DataFrame) -> DataFrame:
        """Registers a checked name."""
        marked = frame.withMetadata(frame.columns[0], {MARK: self._mark(name)})
        marked.createOrReplaceTempView(f"`{self.prefix}{name}`")
        return marked

    def _mark(self, name: str) -> str:
        return f"{name} {'at a point' if self.at_point else 'at the end'} of cluster {self.cluster_id}"


def _shown(mark: str | None) -> str:
    return mark or "something that was not registered here"
