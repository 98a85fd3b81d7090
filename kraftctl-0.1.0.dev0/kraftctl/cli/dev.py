"""`kraftctl dev`: a kraftctl controller and real Apache Kafka brokers on this machine, until Ctrl-C."""

from __future__ import annotations

import argparse
from pathlib import Path

from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION
from kraftctl.dev.session import DevOptions, run_session

NAME = "dev"
PRINTS_ONLY = False

BROKERS_MAX = 20
"""The limit, because each is a JVM of several hundred megabytes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--brokers", type=_brokers, default=3, metavar="N", help="how many brokers (default 3)"
    )
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path("dev-cluster"),
        help="the directory of the cluster; reused by the next run (default ./dev-cluster)",
    )
    parser.add_argument(
        "--temporary", action="store_true", help="use a temporary directory that is removed at the end"
    )
    parser.add_argument(
        "--kafka-version",
        default=DEFAULT_KAFKA_VERSION,
        help="their version (default %(default)s)",
    )
    parser.add_argument(
        "--no-export", action="store_true", help="do not stream the metadata log to Parquet with Spark"
    )
    parser.add_argument(
        "--java-controller", action="store_true", help="run Kafka's own controller instead, to compare"
    )


def run(args: argparse.Namespace) -> int:
    return run_session(
        DevOptions(
            directory=args.directory,
            brokers=args.brokers,
            kafka_version=args.kafka_version,
            temporary=args.temporary,
            export=not args.no_export,
            java_controller=args.java_controller,
        )
    )


def _brokers(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= BROKERS_MAX:
        raise argparse.ArgumentTypeError(f"from 1 to {BROKERS_MAX} brokers")
    return int(text)
