"""`kraftctl-export publish`: the tables as Delta or Iceberg, up to everything that is committed."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from kraftctl_spark.commands.output_flag import add_place, output_of, store_of
from kraftctl_spark.commands.publish_flags import add_formats, check_formats, targets_of

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser, "output", metavar="OUTPUT")
    add_formats(parser, "--as", "the format", required=True)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns 0 when everything is published, 1 when a catalog failed."""
    from kraftctl_spark.publish.publication import PublicationFailedError
    from kraftctl_spark.publish.publisher import Publisher

    store = store_of(options)
    check_formats(options, store)
    with output_of(options, hook) as output:
        for target in targets_of(options, hook, store):
            try:
                changed = Publisher(output, target).publish()
            except PublicationFailedError as error:
                log.error("the publication failed: %s", error)
                return 1
            log.info("%s: %d tables of %s changed", target.name, changed, output.where)
    return 0
