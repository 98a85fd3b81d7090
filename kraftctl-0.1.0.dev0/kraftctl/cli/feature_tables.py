"""`version-mapping` and `feature-dependencies`, which kafka-storage and kafka-features have in common."""

from __future__ import annotations

import argparse
import json

from kraftctl.cli.feature_levels import (
    FeatureLevel,
    dependencies_of,
    levels_of_release,
    parse_feature_level,
    parse_release_version,
)
from kraftctl.cli.output import JSON, add_output_flag, print_output
from kraftctl.metadata import features


def add_version_mapping(parser: argparse.ArgumentParser, *flags: str) -> None:
    parser.add_argument(
        *flags,
        "--release-version",
        metavar="RELEASE",
        help="a release, such as 4.2, or a metadata.version, such as 4.2-IV0; default"
        f" {features.metadata_version_name(features.DEFAULT_METADATA_VERSION)}",
    )
    add_output_flag(parser)


def version_mapping(args: argparse.Namespace) -> int:
    """Prints the levels of a new cluster of that release. Raises StorageError for an unknown release."""
    name = args.release_version
    if name is None:
        name = features.metadata_version_name(features.DEFAULT_METADATA_VERSION)
    levels = levels_of_release(parse_release_version(name, unstable=True))
    lines = [
        f"{feature}={level} ({name})" if feature == features.METADATA_VERSION else f"{feature}={level}"
        for feature, level in levels
    ]
    print_output(args, "\n".join(lines), dict(levels))
    return 0


def add_feature_dependencies(parser: argparse.ArgumentParser, *flags: str) -> None:
    parser.add_argument(
        *flags,
        "--feature",
        action="append",
        required=True,
        metavar="FEATURE=LEVEL",
        help="the level of a feature, for example transaction.version=2; may be repeated",
    )
    add_output_flag(parser)


def feature_dependencies(args: argparse.Namespace) -> int:
    """Prints what each level requires. Raises StorageError at the first that is not known; the text of those
    before it has been printed then, as by Kafka's tools.
    """
    found: dict[str, dict[str, int]] = {}
    for argument in args.feature:
        level = parse_feature_level(argument)
        required = dependencies_of(level)
        found[f"{level.feature}={level.level}"] = dict(required)
        if args.output != JSON:
            print(_dependencies_text(level, required))
    if args.output == JSON:
        print(json.dumps(found))
    return 0


def _dependencies_text(level: FeatureLevel, required: list[FeatureLevel]) -> str:
    if not required:
        return f"{level} has no dependencies."
    return "\n".join([f"{level} requires:", *(f"    {each}" for each in required)])
