"""A refused commit may be carried out all the same: a client or a gateway has repeated the request."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table

from kraftctl_spark.publish.iceberg import IcebergTarget
from kraftctl_spark.publish.publication import publish
from kraftctl_spark.tables.output import Output
from tests.spark.publish.published_tables import NAMESPACE, assert_in_catalog, catalog_in
from tests.spark.publish.test_publication import become, grown, place

__all__ = ["grown", "place"]

Then = Callable[[Path, str], None]
"""What happens to a table, in the catalog of a directory, between a commit and its refusal."""


def nothing(place: Path, name: str) -> None:
    """The table stays as the commit left it."""


def another_commits(place: Path, name: str) -> None:
    """The snapshot of the commit is not the current one any more."""
    found = catalog_in(place).load_table(name)
    found.append(pa.Table.from_pylist([{}], schema=found.schema().as_arrow()))


def refusing(place: Path, thens: tuple[Then | None, ...]) -> tuple[Catalog, list[bool]]:
    """Returns a catalog that refuses commits in turn, and which it has refused.

    They are carried out before something happens, or, for None, not at all. After these, it accepts one.
    """
    catalog, refused = catalog_in(place), list[bool]()
    commit_table, turns = catalog.commit_table, cycle((*thens, "accepted"))

    def commit_or_refuse(table: Table, *rest: Any) -> Any:
        turn = next(turns)
        answer = None if turn is None else commit_table(table, *rest)
        refused.append(turn != "accepted")
        if isinstance(turn, str):
            return answer
        if turn is not None:
            turn(place, ".".join(table.name()))
        raise CommitFailedException("branch main has changed")

    catalog.commit_table = commit_or_refuse  # type: ignore[method-assign,assignment]
    return catalog, refused


@pytest.mark.parametrize(
    "thens", [(nothing,), (another_commits,), (None,), (None, nothing, another_commits, None)], ids=str
)
def test_what_is_published_can_be_read(
    grown: list[Path], place: Path, thens: tuple[Then | None, ...]
) -> None:
    """After each batch, whatever was refused."""
    catalog, refused = refusing(place, thens)
    target = IcebergTarget(lambda: catalog, NAMESPACE)
    for copy in grown:
        output = Output(become(place, copy).absolute())
        publish(output, target)
        assert_in_catalog(catalog_in(place), output, 21)
        assert publish(output, target) == 0
    assert sum(refused) > 40
