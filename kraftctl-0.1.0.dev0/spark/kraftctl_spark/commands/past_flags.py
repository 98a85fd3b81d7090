"""The flags of commands that take the past state of a cluster, and that state."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from kraftctl_spark.commands import history
from kraftctl_spark.commands.as_of_flag import HELP, past_place
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.restore.past_state import PastState
    from kraftctl_spark.stores.durable import Hook

log = logging.getLogger(__name__)


def add_past_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--as-of", metavar="OFFSET|TIME", help=HELP)
    parser.add_argument(
        "--history",
        type=path_flag,
        help=f"directory of the versions, continued if it is behind [OUTPUT/{history.DIRECTORY}]",
    )
    parser.add_argument(
        "--accept-unknown",
        action="store_true",
        help="where something is not known at that point, take what was known of it last",
    )


def add_cluster_flags(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "--to", required=required, metavar="HOST:PORT,...", help="brokers of the running cluster"
    )
    parser.add_argument(
        "--command-config",
        type=path_flag,
        help="properties of the client, as for Kafka's tools: security.protocol, ssl.*, sasl.*, client.id,"
        " request.timeout.ms, default.api.timeout.ms",
    )


def past_of(options: argparse.Namespace, hook: Hook) -> PastState:
    """Returns the state; ExportRefusedError where it is not known, unless that is accepted."""
    from kraftctl_spark.history.past_point import past_point
    from kraftctl_spark.report.current_history import current_history
    from kraftctl_spark.restore.past_state import past_state
    from kraftctl_spark.tables.manifest import ExportRefusedError
    from kraftctl_spark.tables.output import Output

    output = Output(options.output)
    output.check_exists()
    as_of = past_place(options.as_of)
    place: Path = options.history or options.output / history.DIRECTORY
    with TemporaryDirectory(prefix="kraftctl-restore-") as scratch:
        place = current_history(options.output, place, Path(scratch), hook)
        with output.undisturbed():
            point = past_point(options.output, output.manifests(), as_of, place)
            past = past_state(place, point)
    if past.unknown and not options.accept_unknown:
        unknown = "; ".join(map(str, past.unknown))
        raise ExportRefusedError(
            f"at offset {point.offset}, this is not known: {unknown}. Choose an earlier point, or take"
            " what was known last: --accept-unknown"
        )
    for one in past.unknown:
        log.warning("%s: taken as it was at offset %d", one, one.last_known)
    return past
