"""The flag for the metrics of a running export."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftctl_spark.monitoring.export_metrics import ExportMetrics
    from kraftctl_spark.tables.output import Output

log = logging.getLogger(__name__)


def add_metrics_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metrics-listener",
        type=_address,
        help="serve metrics for Prometheus at this address, such as http://127.0.0.1:9404 [none]",
    )


def _address(text: str) -> tuple[str, int]:
    from kraftctl_spark.monitoring.metrics_listener import listener_address

    try:
        return listener_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


@contextmanager
def monitored(options: argparse.Namespace, output: Output, cluster_id: str) -> Iterator[ExportMetrics]:
    """Gives the metrics of an export, which are served until the end of the block if the flag is given."""
    from kraftctl_spark.monitoring.export_metrics import ExportMetrics
    from kraftctl_spark.monitoring.metrics_listener import serving
    from kraftctl_spark.tables.progress import progress

    metrics = ExportMetrics(cluster_id, options.engine)
    if options.metrics_listener is None:
        yield metrics
        return
    metrics.begin_with(progress(output))
    with serving(options.metrics_listener, metrics.text) as port:
        log.info("metrics are at http://%s:%d/metrics", options.metrics_listener[0], port)
        yield metrics
