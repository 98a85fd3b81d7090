"""A commit of a REST catalog that a gateway repeats is refused the second time, and is there all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import CommitTableResponse

from kraftctl_spark.publish.iceberg import _CarefulRestCatalog
from tests.spark.publish.published_tables import catalog_in

ROWS = pa.table({"n": [1, 2, 3]})


class CatalogBehindAGateway(_CarefulRestCatalog):
    """Has the tables of another catalog."""

    def __init__(self, behind: Catalog) -> None:
        self.load_table = behind.load_table


def refuses(carry_out: Callable[..., CommitTableResponse] | None) -> Callable[..., CommitTableResponse]:
    """Answers as the catalog does to the second request, after the first one or without it."""

    def commit_table(self: RestCatalog, *commit: Any) -> CommitTableResponse:
        if carry_out is not None:
            carry_out(*commit)
        raise CommitFailedException("branch main has changed")

    return commit_table


@pytest.mark.parametrize("is_there", [True, False])
def test_the_files_of_a_commit_that_is_there_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    (tmp_path / "warehouse").mkdir()
    catalog = catalog_in(tmp_path)
    catalog.create_namespace("kraft")
    table = catalog.create_table("kraft.t", ROWS.schema, properties={"commit.retry.num-retries": "0"})
    monkeypatch.setattr(RestCatalog, "commit_table", refuses(catalog.commit_table if is_there else None))
    table.catalog = CatalogBehindAGateway(catalog)
    if is_there:
        table.append(ROWS)
    else:
        with pytest.raises(CommitFailedException, match="branch main has changed"):
            table.append(ROWS)
    assert catalog.load_table("kraft.t").scan().to_arrow().num_rows == (3 if is_there else 0)
