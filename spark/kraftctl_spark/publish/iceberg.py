"""Publishes tables as Iceberg, through a catalog: its metadata names the files where they are.

The condition of a commit is the snapshot that was compared. pyiceberg would repeat a commit on a newer
snapshot, and an append succeeds there: a property of the tables allows no repetition, and is set again where
another process changed it.

pyiceberg's REST catalog waits without end for an answer. Here, it waits as long as an export may be held up.
A commit that it calls refused may have been carried out, where a gateway repeats requests: pyiceberg would
delete its files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
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
from pyiceberg.catalog.rest import RestCatalog
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
from pyiceberg.table.update import AddSnapshotUpdate, TableRequirement, TableUpdate
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

PROPERTIES = {
    TableProperties.COMMIT_NUM_RETRIES: "0",
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true",
}
"""The properties that every table has."""


ANSWER_SECONDS_MAX = 30.0
"""Less than service managers wait for the end of an export."""


class _BoundedSession(Session):
    def send(self, request: PreparedRequest, **options: Any) -> Response:
        options["timeout"] = options.get("timeout") or ANSWER_SECONDS_MAX
        return super().send(request, **options)


class _CarefulRestCatalog(RestCatalog):
    def _config_headers(self, session: Session) -> None:
        """Gives answers a time limit: this is the first call for each new session."""
        session.__class__ = _BoundedSession
        super()._config_headers(session)

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Commits; a commit that is refused and there all the same has been repeated on the way."""
        try:
            return cast(CommitTableResponse, super().commit_table(table, requirements, updates))
        except CommitFailedException:
            now = self.load_table(table.name())
            added = [one.snapshot.snapshot_id for one in updates if isinstance(one, AddSnapshotUpdate)]
            if not added or any(now.metadata.snapshot_by_id(one) is None for one in added):
                raise
            return CommitTableResponse.model_construct(
                metadata=now.metadata, metadata_location=now.metadata_location
            )


def load(name: str, properties: Mapping[str, str]) -> Catalog:
    """Returns a catalog, as `load_catalog` does."""
    found = merge_config(Config().get_catalog_config(name) or {}, dict(properties))
    kind = found.get(TYPE) or (URI in found and infer_catalog_type(name, found))
    if kind in (CatalogType.REST, CatalogType.REST.value) and PY_CATALOG_IMPL not in found:
        return _CarefulRestCatalog(name, **cast(dict[str, str], found))
    return load_catalog(name, **properties)


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
        name = f"{self._namespace}.{table.name}"
        catalog = self._loaded = self._loaded or self._load()
        try:
            found = catalog.load_table(name)
        except NoSuchTableError:
            if not table.exists:
                return None
            _make_namespace(catalog, self._namespace)
            found = catalog.create_table_if_not_exists(
                name, table.schema, properties={**PROPERTIES, CLUSTER_ID: table.cluster_id}
            )
            self._hook("table-created")
        try:
            self._prepare(found, table)
            if expire(found, keep_ms=self._keep_ms, now_ms=time.time_ns() // 1_000_000):
                self._hook("snapshots-expired")
        except CommitFailedException as error:
            raise LostRaceError(str(error)) from error
        return _PublishedIceberg(found, table.location)

    def remove(self, output: Output, table: LiveTable) -> None:
        """Deletes manifests before the table, whose last metadata file has no value of a row."""
        catalog = self._loaded = self._loaded or self._load()
        name = f"{self._namespace}.{table.name}"
        try:
            found = catalog.load_table(name)
        except (NoSuchTableError, NoSuchNamespaceError):
            return
        for location in iceberg_files.listed(found):
            if Path(location).name != Path(found.metadata_location).name:
                found.io.delete(location)
                self._hook("metadata-removed")
        catalog.drop_table(name)
        self._hook("table-dropped")
        found.io.delete(found.metadata_location)

    def metadata(self, table: LiveTable) -> Iterator[tuple[str, bytes]]:
        catalog = self._loaded = self._loaded or self._load()
        try:
            found = catalog.load_table(f"{self._namespace}.{table.name}")
        except (NoSuchTableError, NoSuchNamespaceError):
            return
        for location in iceberg_files.listed(found):
            yield location, b"\n".join(iceberg_files.decoded(found, location))

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


def _make_namespace(catalog: Catalog, namespace: str) -> None:
    """Makes it unless it is there: a catalog may let only others make namespaces."""
    if catalog.namespace_exists(namespace):
        return
    try:
        catalog.create_namespace_if_not_exists(namespace)
    except (IntegrityError, RESTError):
        if not catalog.namespace_exists(namespace):
            raise
        # Catalogs with a database look first, and another process was faster.


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
        except (CommitFailedException, ValidationException) as error:
            raise LostRaceError(str(error)) from error


def _position(table: Table) -> int | None:
    """Returns the position of the last publication: of others, a snapshot has none."""
    for snapshot in ancestors_of(table.current_snapshot(), table.metadata):
        if snapshot.summary is not None and (position := snapshot.summary.get(OFFSET)) is not None:
            return int(position)
    return None


def _size(file: DataFile) -> tuple[int, int]:
    return file.file_size_in_bytes, file.record_count
