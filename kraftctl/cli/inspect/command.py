"""`kraftctl inspect`: what /metrics has, and the keys that a properties file may have."""

from __future__ import annotations

import argparse

from kraftctl.cli.inspect import config_page
from kraftctl.operate import metric_page

NAME = "inspect"
PRINTS_ONLY = True

TABLES = {
    ("metrics", "text"): metric_page.text_table,
    ("metrics", "json"): metric_page.json_table,
    ("metrics", "markdown"): metric_page.page,
    ("configs", "text"): config_page.text_table,
    ("configs", "json"): config_page.json_table,
    ("configs", "markdown"): config_page.page,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=["metrics", "configs"], help="what /metrics has, or the keys of a properties file"
    )
    outputs = ["text", "json", "markdown"]
    parser.add_argument("--output", choices=outputs, default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    print(TABLES[args.what, args.output]().rstrip("\n"))
    return 0
