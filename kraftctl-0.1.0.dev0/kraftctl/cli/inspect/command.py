"""`kraftctl inspect`: what /metrics has, and the keys that a properties file may have; all, or one."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from kraftctl.cli.inspect import config_page
from kraftctl.cli.inspect.config_rows import ConfigRow, config_rows
from kraftctl.cli.unknown_keys import nearest_key_of_node
from kraftctl.config.own_keys import LISTENER_PREFIX
from kraftctl.operate import metric_page
from kraftctl.operate.metric_table import METRICS
from kraftctl_security.exposition import Metric
from kraftctl_security.nearest_key import KnownKeys

NAME = "inspect"
PRINTS_ONLY = True

METRIC_FORMS: Final = {
    "text": metric_page.text_table,
    "json": metric_page.json_table,
    "markdown": metric_page.page,
}
CONFIG_FORMS: Final = {
    "text": config_page.text_table,
    "json": config_page.json_table,
    "markdown": config_page.page,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=["metrics", "configs"], help="what /metrics has, or the keys of a properties file"
    )
    parser.add_argument(
        "name", nargs="?", help="one metric, or one key, also with the prefix of a listener (default: all)"
    )
    parser.add_argument("--output", choices=list(CONFIG_FORMS), default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    if args.what == "metrics":
        metrics = [each for each in METRICS if args.name is None or args.name in each.names]
        text, found = METRIC_FORMS[args.output](metrics), bool(metrics)
    else:
        rows = config_rows()
        rows = rows if args.name is None else _rows_of(rows, args.name)
        text, found = CONFIG_FORMS[args.output](rows), bool(rows)
    if found:
        print(text.rstrip("\n"))
        return 0
    print(_not_found(args.what, args.name), file=sys.stderr)
    return 1


def _rows_of(rows: list[ConfigRow], name: str) -> list[ConfigRow]:
    """Returns the row of a key; of one with a listener's, or a mechanism's prefix, that of the key itself."""
    exact = [row for row in rows if row.name == name]
    if exact or not name.startswith(LISTENER_PREFIX):
        return exact
    ends = [row for row in rows if name.endswith(f".{row.name}")]
    return sorted(ends, key=lambda row: len(row.name))[-1:]


def _not_found(what: str, name: str) -> str:
    if what == "metrics":
        sentence, meant = f"there is no metric {name}", KnownKeys(_names(METRICS)).nearest(name)
    else:
        sentence, meant = f"a controller's file has no key {name}", nearest_key_of_node(name, {})
    return f"kraftctl inspect: {sentence}" + (
        f": did you mean {meant}?" if meant else f". Next step: kraftctl inspect {what} prints all"
    )


def _names(metrics: tuple[Metric, ...]) -> list[str]:
    return [name for metric in metrics for name in metric.names]
