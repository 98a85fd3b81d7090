"""Whether files have the columns of this release: those of an earlier or a later one differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output import Output


def has_files(output: Output, manifest: Manifest, what: Callable[[pa.Schema, str], bool]) -> bool:
    """Returns whether one of its files has the property."""
    return any(what(output.schema(file.path), file.table) for file in manifest.files)


def is_old(found: pa.Schema, table: str) -> bool:
    """Returns whether it lacks fields of this release, and has no others."""
    schema = table_schemas().get(table)
    return (
        schema is not None and not found.equals(schema) and set(field_paths(found)) < set(field_paths(schema))
    )


def is_later(found: pa.Schema, table: str) -> bool:
    """Returns whether it has fields that this release does not know."""
    schema = table_schemas().get(table)
    return schema is None or not (found.equals(schema) or set(field_paths(found)) <= set(field_paths(schema)))


def field_paths(fields: Iterable[pa.Field], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yields the paths of all fields, those within lists and structs too."""
    for field in fields:
        path, kind = (*above, field.name), field.type
        yield path
        while pa.types.is_list(kind):
            kind = kind.value_type
        if pa.types.is_struct(kind):
            yield from field_paths(kind, path)
