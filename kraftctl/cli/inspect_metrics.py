"""`kraftctl inspect metrics`: name, type, labels, number of series and meaning of each metric."""

from __future__ import annotations

import argparse

from kraftctl.operate.metric_page import page, text_table

NAME = "inspect"
PRINTS_ONLY = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="metrics", choices=["metrics"], help="what /metrics has")
    parser.add_argument("--output", choices=["text", "markdown"], default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    print(
        page() if args.output == "markdown" else text_table(), end="" if args.output == "markdown" else "\n"
    )
    return 0
