"""The flag `--output` of commands that write or read tables in a directory or an object store."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook
    from kraftctl_spark.stores.open_store import StoreLocation
    from kraftctl_spark.tables.output import Output

SCRATCH = "kraftctl-export-"
"""Files on their way to a store, or from there, are in a temporary directory of this prefix."""

log = logging.getLogger(__name__)


def add_output_flags(parser: argparse.ArgumentParser) -> None:
    add_place(parser, "--output", required=True)


def add_place(parser: argparse.ArgumentParser, name: str, **options: Any) -> None:
    """Adds the place of the tables under a name, and the options of a store."""
    parser.add_argument(
        name,
        type=_place,
        help="directory of the tables, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX",
        **options,
    )
    parser.add_argument(
        "--store-option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of an object store, and several times: region, endpoint, allow_http, timeout and others of "
        "obstore. Credentials are read from the environment",
    )


def _place(text: str) -> Path | str:
    """Returns a path, or the URL of an object store."""
    from kraftctl_spark.stores.open_store import is_object_store

    return text if is_object_store(text) else path_flag(text)


def store_of(options: argparse.Namespace) -> StoreLocation | None:
    """Returns the object store of the output; None for a directory. StoreRefusedError for wrong options."""
    from kraftctl_spark.stores.open_store import StoreLocation, parse_options
    from kraftctl_spark.stores.store_error import StoreRefusedError

    given = parse_options(options.store_option)
    if isinstance(options.output, str):
        return StoreLocation.here(options.output, given)
    if given:
        raise StoreRefusedError(f"--store-option is for object stores, and {options.output} is a directory")
    return None


@contextmanager
def output_of(options: argparse.Namespace, hook: Hook, *, to_write: bool = False) -> Iterator[Output]:
    """Gives the output. To write to a store, it has to be one in which one of several writers wins."""
    from kraftctl_spark.stores.create_probe import probe
    from kraftctl_spark.tables.output import Output

    location = store_of(options)
    if location is None:
        yield Output(options.output.absolute(), hook)
        return
    store = location.open_objects()
    from kraftctl_spark.tables.stored_output import StoredOutput  # It needs obstore.

    if to_write:
        passed = probe(store, store.url)
        log.info(
            "%s has atomic conditional writes: %d requests in %d ms",
            *(store.url, passed.requests, passed.elapsed_ms),
        )
    with TemporaryDirectory(prefix=SCRATCH) as scratch:
        yield StoredOutput(store, Path(scratch), hook)


@contextmanager
def local_output_of(options: argparse.Namespace) -> Iterator[Path]:
    """Gives the directory of the output; of a store, a copy of what is live, which is removed again."""
    from kraftctl_spark.stores.durable import no_hook

    with output_of(options, no_hook) as output:
        output.check_exists()
        output.fetch_all()
        yield output.directory
