"""How long replaced files are kept by default: published tables are read file by file, by name."""

from __future__ import annotations

from kraftctl_spark.tables.output import Output

PUBLICATIONS = "_publications.json"
"""It is in the output from the first publication on; releases before noted in it what is published."""

NOTES = {"Delta": "_publications-delta.json", "Iceberg": "_publications-iceberg.json"}
"""The notes of what is published, one for each format: different processes may write them."""

KEPT_WHEN_PUBLISHED_MS = 86_400_000
"""The longest scan that ends well."""


def is_published(output: Output) -> bool:
    return output.log.store.size(PUBLICATIONS) is not None


def keep_ms_of(output: Output, wanted_ms: int | None) -> int:
    """Returns how long to keep them now. Without a wish, that is asked each time: another process may publish
    the output for the first time while this one replaces files of it.
    """
    if wanted_ms is not None:
        return wanted_ms
    return KEPT_WHEN_PUBLISHED_MS if is_published(output) else 0
