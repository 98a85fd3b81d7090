"""Where tables are published, as flags of every command that does it."""

from __future__ import annotations

import argparse
import importlib.util
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from kraftctl_protocol.extra_packages import install_command
from kraftctl_spark.stores.secret_options import SECRET

if TYPE_CHECKING:
    from kraftctl_spark.publish.publication import Target
    from kraftctl_spark.stores.durable import Hook
    from kraftctl_spark.stores.open_store import StoreLocation

FORMATS = {"delta": "deltalake", "iceberg": "pyiceberg"}
"""The formats, with what is needed to write them."""
NAMESPACE = "kraft"

DELTA_OPTIONS = frozenset(
    ("account_name", "allow_http", "connect_timeout", "endpoint", "proxy_url", "region", "timeout")
)
"""The options of a store that deltalake has by the same names."""

ICEBERG_OPTIONS = {"allow_http": "", "endpoint": "s3.endpoint", "region": "s3.region"}
"""The options of a store that pyiceberg has, too; it takes any endpoint without asking."""

SECRET_OF_CATALOG = re.compile(r"authorization|connection-string|cookie", re.IGNORECASE)
SECRET_IN_VALUE = re.compile(
    r"//[^/@]*:[^/@]*@|[?&;]\w*(?:password|passwd|pwd|token|secret)\w*=", re.IGNORECASE
)
"""A password in a URL of a database or of a catalog."""


def add_formats(parser: argparse.ArgumentParser, flag: str, purpose: str, required: bool) -> None:
    """Adds the flag for the formats, and those for the catalog."""
    parser.add_argument(
        flag,
        dest="formats",
        required=required,
        action="append",
        choices=list(FORMATS),
        help=f"{purpose}. delta: beside the files; iceberg: in a catalog; may be repeated",
    )
    add_catalog_flags(parser)


def add_catalog_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--catalog", help="with iceberg: the catalog, by its name in .pyiceberg.yaml")
    parser.add_argument(
        "--catalog-property",
        action="append",
        default=[],
        type=_property,
        metavar="KEY=VALUE",
        help="a property of the catalog, instead of its file or its variables; may be repeated",
    )
    parser.add_argument(
        "--namespace", default=NAMESPACE, help=f"with iceberg: the namespace of the tables [{NAMESPACE}]"
    )


def _property(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError("write it as KEY=VALUE")
    if SECRET.search(key) or SECRET_OF_CATALOG.search(key) or SECRET_IN_VALUE.search(value):
        variable = re.sub(r"\.", "__", re.sub("-", "_", key)).upper()
        raise argparse.ArgumentTypeError(
            f"{key}: every account of this machine can list arguments. Set it in .pyiceberg.yaml, or in the "
            f"environment, as PYICEBERG_CATALOG__NAME__{variable} with the name of the catalog"
        )
    return key, value


def check_formats(options: argparse.Namespace, store: StoreLocation | None) -> None:
    """Raises ExportRefusedError for what is missing to publish, or for what a format cannot do."""
    from kraftctl_spark.tables.manifest import ExportRefusedError

    for kind in options.formats or ():
        if importlib.util.find_spec(FORMATS[kind]) is None:
            needed = f"{FORMATS[kind]}: {install_command(kind, [FORMATS[kind]])}"
            raise ExportRefusedError(f"to publish as {kind} needs {needed}")
        if kind == "iceberg" and options.catalog is None:
            raise ExportRefusedError("to publish as iceberg needs --catalog")
        if store is not None:
            _check_store(kind, store)


def _check_store(kind: str, store: StoreLocation) -> None:
    from kraftctl_spark.stores.open_store import scheme_of
    from kraftctl_spark.tables.manifest import ExportRefusedError

    if kind == "iceberg" and scheme_of(store.url) == "az":
        raise ExportRefusedError(
            f"{store.url} cannot be published as iceberg: its readers name Azure's files by account, as "
            "abfss://CONTAINER@ACCOUNT.dfs.core.windows.net. Publish it as delta"
        )
    taken = DELTA_OPTIONS if kind == "delta" else ICEBERG_OPTIONS
    for option, _ in store.options:
        if option not in taken:
            raise ExportRefusedError(
                f"--store-option {option} cannot be passed on to {FORMATS[kind]}, which publishes as {kind}: "
                f"leave it out (it takes {', '.join(sorted(taken))})"
            )


def targets_of(
    options: argparse.Namespace, hook: Hook, store: StoreLocation | None = None
) -> Iterator[Target]:
    """Yields where to publish. A catalog is opened with the first publication."""
    of_store = () if store is None else store.options
    for kind in options.formats or ():
        if kind == "delta":
            from kraftctl_spark.publish.delta import DeltaTarget

            yield DeltaTarget(hook, dict(of_store))
        else:
            from kraftctl_spark.publish.iceberg import IcebergTarget, load
            from kraftctl_spark.tables.kept_removed import KEPT_WHEN_PUBLISHED_MS

            found = {ICEBERG_OPTIONS[key]: value for key, value in of_store if ICEBERG_OPTIONS[key]}
            properties = found | dict(options.catalog_property)
            wanted_ms = getattr(options, "keep_removed", None)  # Not every command has it.
            keep_ms = KEPT_WHEN_PUBLISHED_MS if wanted_ms is None else wanted_ms
            yield IcebergTarget(partial(load, options.catalog, properties), options.namespace, hook, keep_ms)
