"""`kraftctl-export restore` gives a cluster back what another one, or itself, had at an offset or a time."""

from __future__ import annotations

import argparse
import logging
import time
from typing import TYPE_CHECKING

from kraftctl_spark.commands.past_flags import add_cluster_flags, add_past_flags, past_of
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_admin.admin_client import AdminClient
    from kraftctl_spark.restore.operations import Operation
    from kraftctl_spark.restore.plan import Plan
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)

SHOWN_SECONDS_MAX = 30.0
"""Brokers that have not applied a change by then are behind for other reasons."""

SHOWN_PAUSE_S = 0.2

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--output", type=path_flag, help="directory of the tables, as given to run")
    source.add_argument("--apply", type=path_flag, metavar="FILE", help="a plan that --plan has written")
    parser.add_argument("--plan", type=path_flag, metavar="FILE", help="write the plan to this new file")
    add_cluster_flags(parser, required=False)
    parser.add_argument(
        "--execute", action="store_true", help="do it; without this flag, only say what would be done"
    )
    parser.add_argument(
        "--change-existing",
        action="store_true",
        help="also change what differs: values of configs and quotas, and numbers of partitions; and"
        " where the cluster has topics, set the configs, quotas and ACLs that it has not, which change how it"
        " works",
    )
    parser.add_argument(
        "--cluster-id",
        help="the cluster that --to must be: in another one, nothing is done [any]",
    )
    parser.add_argument(
        "--keep-replicas",
        action="store_true",
        help="place replicas on the same brokers, where all of a topic exist [the cluster places them]",
    )
    add_past_flags(parser)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns 0 if nothing is left, 1 if something is; ExportRefusedError for flags that do not fit."""
    from kraftctl_spark.restore.connection import open_admin
    from kraftctl_spark.restore.plan_file import plan_text, read_plan
    from kraftctl_spark.stores.durable import write_whole

    _check(options)
    plan = read_plan(options.apply) if options.apply is not None else _plan(options, hook)
    if options.plan is not None:
        write_whole(options.plan.absolute(), plan_text(plan).encode(), hook)
        log.info(
            "wrote %s: %d topics, %d configs, %d ACLs, %d quotas; %d things cannot be restored",
            *(options.plan, len(plan.topics), len(plan.configs), len(plan.acls), len(plan.quotas)),
            len(plan.not_restored),
        )
    if options.to is None:
        return 0
    with open_admin(options.to, options.command_config) as client:
        return _restore(client, plan, options)


def _check(options: argparse.Namespace) -> None:
    from kraftctl_spark.tables.manifest import ExportRefusedError

    if options.apply is not None:
        for flag in ("plan", "as_of", "history", "keep_replicas", "accept_unknown"):
            if getattr(options, flag):
                raise ExportRefusedError(f"--{flag.replace('_', '-')} is for --output: a plan has its state")
    if options.to is None and (options.plan is None or options.execute):
        raise ExportRefusedError("name the brokers of the cluster with --to, or a file with --plan")
    if options.plan is not None and options.plan.exists():
        raise ExportRefusedError(f"--plan {options.plan}: it exists; name a new file")


def _plan(options: argparse.Namespace, hook: Hook) -> Plan:
    from kraftctl_spark.restore.forgotten_names import without_forgotten
    from kraftctl_spark.restore.plan import NotRestored, plan_of
    from kraftctl_spark.tables.output import Output

    past = past_of(options, hook)
    not_known = tuple(
        NotRestored(one.table, f"not known {one.since}; the plan has what offset {one.last_known} had")
        for one in past.unknown
    )
    plan = plan_of(
        past.state,
        offset=past.offset,
        time=past.time,
        with_replicas=options.keep_replicas,
        not_known=not_known,
    )
    return without_forgotten(plan, {one.pseudonym for one in Output(options.output).log.state().forgotten})


def _restore(client: AdminClient, plan: Plan, options: argparse.Namespace) -> int:
    from kraftctl_protocol.escaped_text import escaped
    from kraftctl_spark.restore.comparison import compare
    from kraftctl_spark.restore.hidden_topics import check_all_are_shown
    from kraftctl_spark.restore.live_state import live_state
    from kraftctl_spark.tables.manifest import ExportRefusedError

    live = live_state(client, plan.groups)
    if options.cluster_id not in (None, live.cluster_id):
        raise ExportRefusedError(
            f"--to {options.to} is cluster {live.cluster_id}, not {options.cluster_id}: nothing was done"
        )
    found = compare(plan, live)
    check_all_are_shown(client, live, found.missing)
    to_do = found.to_do(change_existing=options.change_existing)
    left = found.left(change_existing=options.change_existing)
    for note in found.notes:
        print(escaped(f"note: {note}"))
    done = 0
    if options.execute:
        done, left = _execute(client, plan, to_do, left)
    else:
        for operation in to_do:
            print(escaped(f"would {operation}"))
    for text in left:
        print(escaped(f"left: {text}"))
    for what, reason in plan.not_restored:
        print(escaped(f"not restored: {what}: {reason}"))
    refused = len(to_do) - done if options.execute else 0
    did = f"{done} done, {refused} refused" if options.execute else f"{len(to_do)} to do with --execute"
    print(
        f"cluster {escaped(live.cluster_id)}: {did}, {len(left)} left as they are,"
        f" {len(plan.not_restored)} not restored"
    )
    return 1 if refused or left else 0


def _execute(
    client: AdminClient, plan: Plan, to_do: list[Operation], left: list[str]
) -> tuple[int, list[str]]:
    """Returns how many operations are done, when brokers show them: they apply a change some time later.

    And what is left then, in place of `left`: a topic that another client has created meanwhile may differ.
    """
    from kraftctl_protocol.escaped_text import escaped
    from kraftctl_spark.restore.changes import carry_out
    from kraftctl_spark.restore.comparison import compare
    from kraftctl_spark.restore.hidden_topics import HIDDEN
    from kraftctl_spark.restore.live_state import live_state

    done: list[Operation] = []
    existed: set[Operation] = set()
    for operation, error, was_there in carry_out(client, to_do):
        print(
            escaped(f"done: {operation}" if error is None else f"refused: {operation}: {error}"), flush=True
        )
        if error is None:
            done.append(operation)
        if was_there:
            existed.add(operation)
    deadline = time.monotonic() + SHOWN_SECONDS_MAX
    while done:
        found = compare(plan, live_state(client, plan.groups))
        left = found.without(to_do).left(change_existing=False)
        not_shown = set(done) & set(found.to_do(change_existing=True))
        if not not_shown:
            break
        if time.monotonic() >= deadline:
            for operation in sorted(not_shown & existed, key=str):
                print(escaped(f"refused: {operation}: {HIDDEN}"))
                done.remove(operation)
            if not_shown - existed:
                print(f"note: brokers do not show {len(not_shown - existed)} of these changes yet")
            break
        time.sleep(SHOWN_PAUSE_S)
    return len(done), left
