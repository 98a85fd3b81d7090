"""`kraftctl-export diff` says what has changed in a running cluster since an offset or a time."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from kraftctl_spark.commands.past_flags import add_cluster_flags, add_past_flags, past_of
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", required=True, type=path_flag, help="directory of the tables, as given to run"
    )
    add_cluster_flags(parser, required=True)
    add_past_flags(parser)
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns 0 if nothing differs, 1 if something does; ExportRefusedError where the past is not known."""
    from kraftctl_protocol.escaped_text import escaped
    from kraftctl_spark.restore.connection import open_admin
    from kraftctl_spark.restore.difference import brokers_not_known, changes_between
    from kraftctl_spark.restore.hidden_topics import check_all_are_shown
    from kraftctl_spark.restore.live_state import live_state

    past = past_of(options, hook)
    groups = {config.resource_name for config in past.state.configs if config.resource_type == "GROUP"}
    with open_admin(options.to, options.command_config) as client:
        live = live_state(client, groups)
        check_all_are_shown(client, live)
    changes = changes_between(past.state, live)
    brokers = brokers_not_known(past.state, live)
    if options.json:
        found = {
            "offset": past.offset,
            "time": past.time,
            "cluster_id": past.state.cluster_id,
            "live_cluster_id": live.cluster_id,
            "brokers_not_known": brokers,
            "changes": [change._asdict() for change in changes],
        }
        print(json.dumps(found, indent=2))
    else:
        for change in changes:
            print(escaped(str(change)))
        if brokers:
            named = ", ".join(map(str, brokers))
            print(f"not known: configs of broker {named}, which only it describes, and it is not running")
        print(f"{len(changes)} changes between offset {past.offset} and now")
    return 1 if changes else 0
