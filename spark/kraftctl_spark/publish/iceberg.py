"""Publishes tables as Iceberg, through a catalog: its metadata names the files where they are.

The condition of a commit is the snapshot that was compared. pyiceberg would repeat a refused commit on a
newer snapshot, where an append succeeds, and in the end delete its files. But a refused commit may be carried
out all the same, where a client or a gateway repeats requests. So here a refusal is a lost race: nothing is
repeated or deleted, and the publication compares again. Files that no snapshot has are deleted with old
snapshots.

pyiceberg's REST catalog waits without end for an answer. Here, it waits as long as an export may be held up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from pyiceberg.catalog import (
    PY_CATALOG_IMPL,
    TYPE,
    URI,
    Catalog,
    CatalogType,
    infer_catalog_type,
    load_catalog,
)
from pyiceberg.catalog.rest import SNAPSHOT_LOADING_MODE, RestCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    NoSuchTableError,
    RESTError,
    ValidationException,
)
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import DataFile
from pyiceberg.table import CommitTableResponse, Table, TableProperties
from pyiceberg.table.snapshots import ancestors_of
from pyiceberg.utils.config import Config, merge_config
from requests import PreparedRequest, Response, Session
from sqlalchemy.exc import IntegrityError

from kraftctl_spark.publish import iceberg_files
from kraftctl_spark.publish.iceberg_expiry import expire
from kraftctl_spark.publish.live_tables import LiveTable
from kraftctl_spark.publish.publication import CLUSTER_ID, OFFSET, FileChange, LostRaceError, Published
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.kept_removed import KEPT_WHEN_PUBLISHED_MS
from kraftctl_spark.tables.output import Output

PROPERTIES = {TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true"}
"""The properties that every table has."""

ANSWER_SECONDS_MAX = 30.0
"""Less than service managers wait for the end of an export."""


class _BoundedSession(Session):
    def send(self, request: PreparedRequest, **options: Any) -> Response:
        options["timeout"] = options.get("timeout") or ANSWER_SECONDS_MAX
        return super().send(request, **options)


class _BoundedRestCatalog(RestCatalog):
    def _config_headers(self, session: Session) -> None:
        """Gives answers a time limit: this is the first call for each new session."""
        session.__class__ = _BoundedSession
        super()._config_headers(session)


def load(name: str, properties: Mapping[str, str]) -> Catalog:
    """Returns a catalog, as `load_catalog` does."""
    found = merge_config(Config().get_catalog_config(name) or {}, dict(properties))
    kind = found.get(TYPE) or (URI in found and infer_catalog_type(name, found))
    if kind in (CatalogType.REST, CatalogType.REST.value) and PY_CATALOG_IMPL not in found:
        catalog = _BoundedRestCatalog(name, **cast(dict[str, str], found))
        catalog.properties.pop(SNAPSHOT_LOADING_MODE, None)  # Old snapshots are ended: all have to be there.
        return catalog
    return load_catalog(name, **properties)


def _with_lost_races(catalog: Catalog) -> Catalog:
    """Makes a refused commit a lost race, which pyiceberg does not handle."""
    commit_table = catalog.commit_table

    def commit_or_lose(*commit: Any) -> CommitTableResponse:
        try:
            return commit_table(*commit)
        except CommitFailedException as error:
            raise LostRaceError(str(error)) from error

    catalog.commit_table = commit_or_lose  # type: ignore[method-assign,assignment]
    return catalog


class IcebergTarget:
    """Tables in a namespace of a catalog, which is loaded when it is needed; `hook` is called after each
    step.
    """

    name = "Iceberg"
    is_beside_files = False

    def __init__(
        self,
        load: Callable[[], Catalog],
        namespace: str,
        hook: Hook = no_hook,
        keep_ms: int = KEPT_WHEN_PUBLISHED_MS,
    ) -> None:
        """Takes how long old snapshots stay."""
        self._keep_ms = keep_ms
        self._load = load
        self._loaded: Catalog | None = None
        self._namespace = namespace
        self._hook = hook

    def open(self, table: LiveTable) -> Published | None:
        try:
            found = self._catalog.load_table(f"{self._namespace}.{table.name}")
        except NoSuchTableError:
            if not table.exists:
                return None
            found = self._created(table)
            self._hook("table-created")
        self._prepare(found, table)
        if expire(found, keep_ms=self._keep_ms, now_ms=time.time_ns() // 1_000_000):
            self._hook("snapshots-expired")
        return _PublishedIceberg(found, table.location)

    def remove(self, output: Output, table: LiveTable) -> None:
        """Deletes manifests before the table, whose last metadata file has no value of a row."""
        name = f"{self._namespace}.{table.name}"
        try:
            found = self._catalog.load_table(name)
        except (NoSuchTableError, NoSuchNamespaceError):
            return
        for location in iceberg_files.listed(found):
            if Path(location).name != Path(found.metadata_location).name:
                found.io.delete(location)
                self._hook("metadata-removed")
        self._catalog.drop_table(name)
        self._hook("table-dropped")
        found.io.delete(found.metadata_location)

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        try:
            found = self._catalog.load_table(f"{self._namespace}.{table.name}")
        except (NoSuchTableError, NoSuchNamespaceError):
            return
        for location in iceberg_files.listed(found):
            yield location, b"\n".join(iceberg_files.decoded(found, location))

    @property
    def _catalog(self) -> Catalog:
        self._loaded = self._loaded or _with_lost_races(self._load())
        return self._loaded

    def _created(self, table: LiveTable) -> Table:
        """Creates the table, and the namespace only where there is none: a catalog may let others make it."""
        create = partial(
            self._catalog.create_table_if_not_exists,
            f"{self._namespace}.{table.name}",
            table.schema,
            properties={**PROPERTIES, CLUSTER_ID: table.cluster_id},
        )
        try:
            return create()
        except NoSuchNamespaceError as missing:
            refusal: Exception = missing
        try:
            self._catalog.create_namespace_if_not_exists(self._namespace)
        except (IntegrityError, RESTError) as error:  # Databases look first: another may have been faster.
            refusal = error
        try:
            return create()
        except NoSuchNamespaceError:
            raise refusal from None

    def _prepare(self, found: Table, table: LiveTable) -> None:
        """Sets the properties and adds new columns, in a commit of its own: a snapshot needs both."""
        with found.transaction() as change:
            wanted = dict(PROPERTIES)
            if found.name_mapping() is None:  # Our files have no field ids.
                wanted[TableProperties.DEFAULT_NAME_MAPPING] = found.schema().name_mapping.model_dump_json()
            if not wanted.items() <= found.properties.items():
                change.set_properties(wanted)
            with change.update_schema() as schema:
                schema.union_by_name(table.schema)
        self._hook("columns-added")


class _PublishedIceberg(Published):
    def __init__(self, table: Table, location: str) -> None:
        self._table = table
        self._location = location if "://" in location else f"file://{location}"
        self._data_files = {task.file.file_path: task.file for task in table.scan().plan_files()}
        super().__init__(
            _position(table),
            table.properties.get(CLUSTER_ID),
            {self._name(path): (path, _size(file)) for path, file in self._data_files.items()},
        )

    def _name(self, path: str) -> str:
        """Returns the name in the directory; the whole path of a file that is elsewhere."""
        return path.removeprefix(f"{self._location}/")

    def commit(self, change: FileChange) -> None:
        transaction = self._table.transaction()
        update = transaction.update_snapshot(snapshot_properties={OFFSET: str(change.position)})
        try:
            with update.overwrite() if change.remove else update.fast_append() as snapshot:
                for path in sorted(change.remove):
                    snapshot.delete_data_file(self._data_files[path])
                for file in change.add:
                    path = f"{self._location}/{Path(file.path).name}"
                    snapshot.append_data_file(
                        parquet_file_to_data_file(self._table.io, transaction.table_metadata, path)
                    )
            transaction.commit_transaction()
        except ValidationException as error:
            raise LostRaceError(str(error)) from error


def _position(table: Table) -> int | None:
    """Returns the position of the last publication: of others, a snapshot has none."""
    for snapshot in ancestors_of(table.current_snapshot(), table.metadata):
        if snapshot.summary is not None and (position := snapshot.summary.get(OFFSET)) is not None:
            return int(position)
    return None


def _size(file: DataFile) -> tuple[int, int]:
    return file.file_size_in_bytes, file.record_count
