"""Says whether metadata.version can be raised, which registered nodes prevent that, and what removes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from kraftctl.cli.doctor.diagnosis import ERROR, UNKNOWN, WARN, Diagnosis, of_sentence, ok
from kraftctl.cli.doctor.registrations import Ranges, Registrations, read_registrations
from kraftctl.cli.doctor.subject import Subject, addresses_of
from kraftctl.cli.quorum.quorum_info import QuorumInfo
from kraftctl.cli.quorum.replacement_steps import SILENT_MS
from kraftctl.metadata import features
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.batch_framing import InvalidBatchError
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.blocking_connection import endpoint_text

KEY: Final = features.METADATA_VERSION


def check_upgrade(subject: Subject) -> Iterator[Diagnosis]:
    """Reads the registrations from the log of this controller, and who fetches from the leader."""
    config = subject.checked()
    try:
        found = read_registrations(Path(config.metadata_log_dir))
    except (StorageError, InvalidBatchError, DecodeError, OSError) as error:
        yield of_sentence(UNKNOWN, f"the metadata log cannot be read: {error}", (), KEY)
        return
    addresses = addresses_of(config)
    bootstrap = endpoint_text(addresses[0]) if addresses else "HOST:PORT"
    yield from upgrade_of(found, _fetching(subject), bootstrap)


def upgrade_of(found: Registrations, fetching: Collection[int] | None, bootstrap: str) -> Iterator[Diagnosis]:
    """Compares the level with what all registered nodes support.

    `fetching` has the ids of all that vote or fetch, and is None if no leader has said it.
    """
    level = found.levels.get(KEY)
    if level is None:
        yield Diagnosis(UNKNOWN, "the log has no metadata.version yet", "start the controller first", KEY)
        return
    newest = features.LATEST_PRODUCTION
    name = features.metadata_version_name
    limited = False
    for kind, nodes in (("controller", found.controllers), ("broker", found.brokers)):
        for node_id in sorted(nodes):
            highest = _highest(nodes[node_id])
            if highest >= newest:
                continue
            limited = True
            is_gone = fetching is not None and node_id not in fetching
            text = f"{kind} {node_id} supports metadata.version up to {name(highest)}"
            if is_gone:
                text += ", and it neither votes nor fetches"
                step = _removal(kind, node_id, level, bootstrap)
            else:
                step = f"run a later release on {kind} {node_id}"
            yield Diagnosis(ERROR if highest <= level else WARN, text, step, KEY)
    reachable = min([newest, *map(_highest, [*found.controllers.values(), *found.brokers.values()])])
    yield from _summary(level, reachable, bootstrap, limited=limited)
    if fetching is None:
        text = "no leader has said who votes and fetches, so nodes that are gone are not known"
        yield Diagnosis(WARN, text, "repeat this when there is a leader", KEY)


def _summary(level: int, reachable: int, bootstrap: str, *, limited: bool) -> Iterator[Diagnosis]:
    name = features.metadata_version_name
    if reachable > level:
        text = f"metadata.version is {name(level)}, and can be raised to {name(reachable)}"
        command = f"kraftctl features --bootstrap-controller {bootstrap} --command-config FILE upgrade"
        cost = features.cost_of_raising(KEY, level, reachable)
        step = f"{cost}; try --dry-run first: {command} --dry-run"
        yield Diagnosis("OK", text, f"{step} --release-version {name(reachable)}", KEY)
    elif not limited:
        yield ok(f"metadata.version is {name(level)}, the newest that this release supports", KEY)


def _removal(kind: str, node_id: int, level: int, bootstrap: str) -> str:
    where = f"--bootstrap-controller {bootstrap} --id {node_id}"
    if kind == "broker":
        return f"if it is gone for good: kafka-cluster.sh unregister {where} --config FILE"
    if features.is_controller_unregistration_supported(level):
        command = f"kafka-cluster.sh unregister-controller {where} --command-config FILE"
        return f"if it is gone for good: {command}"
    return (
        f"nothing unregisters a controller below metadata.version 4.4-IV2. Only in a dynamic quorum: start a"
        f" controller of a later release with node.id={node_id} as an observer, until it has registered."
        " Format its directory with --no-initial-controllers and the cluster id of this cluster, and leave"
        " controller.quorum.auto.join.enable at false: it must not become a voter"
    )


def _highest(ranges: Ranges) -> int:
    """Returns the highest level of a node; one that says nothing supports only the lowest."""
    return ranges.get(KEY, (0, features.MINIMUM_METADATA_VERSION))[1]


def _fetching(subject: Subject) -> set[int] | None:
    quorums = [each.quorum for each in subject.answers.values() if each.quorum is not None]
    return present_in(max(quorums, key=lambda each: each.leader_epoch)) if quorums else None


def present_in(quorum: QuorumInfo) -> set[int]:
    """Returns the ids of voters, and of observers that fetch: a leader lists them minutes after the last one.

    All observers count if a release before 3.3 reports no times.
    """
    now_ms = max((each.last_fetch_ms or 0 for each in quorum.voters), default=0)
    observers = [
        each.replica_id
        for each in quorum.observers
        if not now_ms or (each.last_fetch_ms is not None and now_ms - each.last_fetch_ms < SILENT_MS)
    ]
    return {quorum.leader_id, *observers, *(each.replica_id for each in quorum.voters)}
