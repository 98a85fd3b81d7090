"""The flags for the location of the log, controllers or a directory, and for the connection."""

from __future__ import annotations

import argparse
from dataclasses import replace

from kraftctl_spark.commands.path_flag import path_flag
from kraftctl_spark.log.client_config import ObserverConfig, read_command_config
from kraftctl_spark.log.log_location import DirectoryLocation, LogLocation, QuorumLocation, parse_endpoints


def add_location_flags(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bootstrap-controllers", help="host:port,host:port of any controllers")
    where.add_argument(
        "--directory", type=path_flag, help="a controller's metadata.log.dir, or the first of its log.dirs"
    )
    parser.add_argument(
        "--assume-committed",
        action="store_true",
        help="with --directory: also read what may not be committed; for a stopped controller or a copy",
    )
    parser.add_argument("--cluster-id", help="the cluster that the log must belong to [as the log says]")
    parser.add_argument(
        "--command-config",
        type=path_flag,
        help="properties of the client: security.protocol, ssl.*, sasl.*, client.id, request.timeout.ms; each"
        " worker reads this file",
    )
    parser.add_argument(
        "--request-timeout-ms",
        type=int,
        help=f"how long to look for a leader [{ObserverConfig.request_timeout_ms}]",
    )


def location_of(options: argparse.Namespace) -> LogLocation:
    """Returns the location; ValueError that names the flag."""
    client = _client_of(options)
    if options.directory is not None:
        return DirectoryLocation(options.directory.absolute(), options.assume_committed)
    if options.assume_committed:
        raise ValueError("--assume-committed is for --directory: controllers say what is committed")
    try:
        return QuorumLocation(parse_endpoints(options.bootstrap_controllers), client)
    except ValueError as error:
        raise ValueError(f"--bootstrap-controllers: {error}") from error


def _client_of(options: argparse.Namespace) -> ObserverConfig:
    client = ObserverConfig()
    if options.command_config is not None:
        try:
            client = read_command_config(options.command_config)
        except ValueError as error:
            raise ValueError(f"--command-config {error}") from error
    if options.request_timeout_ms is None:
        return client
    if options.request_timeout_ms < 1:
        raise ValueError(f"--request-timeout-ms {options.request_timeout_ms}: give a whole number above 0")
    return replace(client, request_timeout_ms=options.request_timeout_ms)
