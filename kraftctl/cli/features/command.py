"""`kraftctl features`: the operations, flags and exit statuses of kafka-features (KIP-584, KIP-1022).

Kafka's tool takes the flags of the connection before the operation; here they may also follow it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from kraftctl.cli.admin.connection_flags import (
    BOOTSTRAP_FLAGS,
    add_connection_flags,
    open_client,
    report_failures,
)
from kraftctl.cli.feature_levels import (
    FeatureLevel,
    levels_of_release,
    parse_feature_level,
    parse_release_version,
)
from kraftctl.cli.feature_tables import (
    add_feature_dependencies,
    add_version_mapping,
    feature_dependencies,
    version_mapping,
)
from kraftctl.cli.features.described_features import describe_features
from kraftctl.cli.features.feature_updates import DOWNGRADE, UPGRADE, FeatureChange, update_features
from kraftctl.cli.output import add_output_flag, print_output
from kraftctl.cli.parser import KAFKAS_USAGE_STATUS, KafkaToolParser, Parser
from kraftctl.metadata import features
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.counted_text import counted
from kraftctl_security.resolved_properties import ResolvedProperties

NAME = "features"
PRINTS_ONLY = False

METADATA_FLAG = "--metadata is deprecated: use --release-version, or --feature metadata.version=LEVEL."


def add_arguments(parser: Parser) -> None:
    parser.usage_status = KAFKAS_USAGE_STATUS
    add_connection_flags(parser, None)
    operations = parser.add_subparsers(
        dest="operation", metavar="OPERATION", required=True, parser_class=KafkaToolParser
    )

    def add(name: str, summary: str, run_operation: Callable[..., object], *, asks: bool = True) -> Parser:
        operation = operations.add_parser(name, help=summary)
        operation.set_defaults(run_operation=run_operation, asks=asks)
        # Without a default of its own, an operation keeps what precedes it.
        add_connection_flags(operation, argparse.SUPPRESS)
        operation.needs = (BOOTSTRAP_FLAGS,) if asks else ()
        return operation

    describe = add("describe", "list the levels that are supported and finalized", _describe)
    describe.add_argument("--node-id", type=int, metavar="ID", help="ask this node; default: any")
    add_output_flag(describe)
    _add_change_flags(add(UPGRADE, "raise levels", _change), is_upgrade=True)
    _add_change_flags(add(DOWNGRADE, "lower levels", _change), is_upgrade=False)
    disable = add("disable", "lower levels to 0", _disable)
    disable.add_argument("--feature", action="append", default=[], help="the feature; may be repeated")
    disable.needs += (("--feature",),)
    _add_how(disable, is_upgrade=False)
    add_version_mapping(add("version-mapping", "list the levels of a release", version_mapping, asks=False))
    add_feature_dependencies(
        add("feature-dependencies", "list what a level requires", feature_dependencies, asks=False)
    )


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 with the reason on standard error."""
    return report_failures(args, args.command_config, lambda properties: _run(args, properties))


def _run(args: argparse.Namespace, properties: ResolvedProperties | None) -> None:
    if args.bootstrap_server is not None and args.bootstrap_controller is not None:
        raise AdminError("Give either --bootstrap-server or --bootstrap-controller.")
    if not args.asks:
        args.run_operation(args)
        return
    with open_client(args, properties, only_reads=args.operation == "describe") as client:
        args.run_operation(args, client)


def _add_change_flags(parser: Parser, *, is_upgrade: bool) -> None:
    parser.add_argument(
        "--release-version", metavar="RELEASE", help="all levels of that release, such as 4.2 or 4.2-IV0"
    )
    parser.add_argument(
        "--feature",
        action="append",
        default=[],
        metavar="FEATURE=LEVEL",
        help="the level of one feature; may be repeated",
    )
    parser.add_argument("--metadata", metavar="VERSION", help="deprecated: the metadata.version")
    parser.needs += (("--release-version", "--feature"),)
    _add_how(parser, is_upgrade=is_upgrade)


def _add_how(parser: argparse.ArgumentParser, *, is_upgrade: bool) -> None:
    if not is_upgrade:
        parser.add_argument(
            "--unsafe", action="store_true", help="lower levels even if that loses metadata for good"
        )
    parser.add_argument("--dry-run", action="store_true", help="let the controller check it, and do nothing")
    add_output_flag(parser)


def _describe(args: argparse.Namespace, client: AdminClient) -> None:
    if args.node_id is not None and args.node_id < 0:
        raise AdminError(f"--node-id {args.node_id} is negative.")
    described = describe_features(client, args.node_id)
    print_output(args, described.text(), described.value())


def _change(args: argparse.Namespace, client: AdminClient) -> None:
    is_upgrade = args.operation == UPGRADE
    _update(args, client, _levels_to_set(args, is_upgrade=is_upgrade))


def _levels_to_set(args: argparse.Namespace, *, is_upgrade: bool) -> list[FeatureLevel]:
    if args.release_version is not None:
        if args.feature or args.metadata is not None:
            raise AdminError("--release-version sets all levels: give it without --feature and --metadata.")
        levels = levels_of_release(parse_release_version(args.release_version, unstable=True))
        return [each for each in levels if each.level > 0 or not is_upgrade]
    levels = []
    if args.metadata is not None:
        print(METADATA_FLAG, file=sys.stderr)
        level = parse_release_version(args.metadata, unstable=True)
        levels.append(FeatureLevel(features.METADATA_VERSION, level))
    return levels + [parse_feature_level(argument) for argument in args.feature]


def _disable(args: argparse.Namespace, client: AdminClient) -> None:
    _update(args, client, [FeatureLevel(feature, 0) for feature in args.feature])


def _update(args: argparse.Namespace, client: AdminClient, levels: list[FeatureLevel]) -> None:
    """Prints a line for each feature. Raises AdminError if one was not changed."""
    if not levels:
        raise AdminError(f"Name what to {args.operation}: at least one --feature.")
    names = [level.feature for level in levels]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise AdminError(f"The feature {repeated} is named twice: give it one level.")
    change = FeatureChange(
        args.operation, dict(levels), unsafe=getattr(args, "unsafe", False), dry_run=args.dry_run
    )
    changed = update_features(client, change)
    print_output(args, changed.text(), changed.value())
    if changed.failures:
        which = f"{len(changed.failures)} of {counted(len(levels), 'feature')}"
        raise AdminError(f"{which}: not changed, see above.")
