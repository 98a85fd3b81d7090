"""What the metadata log lacks: the quorum and the brokers as this controller sees them now."""

from __future__ import annotations

from typing import Any, Final

import kraftctl
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.state.broker_heartbeat_manager import NO_SESSION_MS
from kraftctl.operate.readings import ghosts_in
from kraftctl.operate.watch import Watch
from kraftctl.raft.raft_figures import RaftFigures
from kraftctl_protocol.uuids import uuid_to_string

DETAILED_MAX: Final = 100
"""Each list has this many entries at most: with what needs attention first, more add nothing but length."""


def status_of(watch: Watch) -> dict[str, object]:
    """Returns the content; to be called on the loop. Times are ages in ms, null for never.

    `left_out` has the lists that are longer than DETAILED_MAX, with how many of their entries are not shown.
    """
    now_ms = watch.clock.now_ms()
    node = watch.driver.node
    raft, controller = node.raft, node.controller
    figures = raft.figures(now_ms)
    reasons = watch.why_not_ready()
    effect, waiting_seconds = watch.driver.oldest_wait(watch.clock.now_ns())
    probe = watch.driver.probe
    quorum, brokers = _quorum(watch, figures), broker_states(controller, now_ms)
    lists: dict[str, list[Any]] = {
        "brokers": brokers,
        **{name: each for name, each in quorum.items() if isinstance(each, list)},
    }
    ssl_metrics = watch.server.security.ssl_metrics
    return {
        "version": kraftctl.__version__,
        "node_id": raft.node_id,
        "cluster_id": controller.state.cluster_id,
        "wall_ms": watch.clock.wall_ms(),
        "ready": not reasons,
        "reasons": reasons,
        "quorum": quorum,
        "brokers": brokers,
        "left_out": cut(lists),
        "disk": {
            "log_dir": watch.config.metadata_log_dir,
            "free_bytes": watch.free_bytes,
            "waits_for": effect or None,
            "waits_ms": int(waiting_seconds * 1000),
        },
        "longest_turn": {"what": probe.longest_turn or None, "ms": probe.longest_turn_ns / 1e6},
        "certificates": {
            "expire_at_ms": dict(ssl_metrics.certificate_expires_at_ms),
            "trusted_expire_at_ms": dict(ssl_metrics.authority_expires_at_ms),
            "unusable_stores_of": sorted(ssl_metrics.failing_listeners),
        },
    }


def cut(lists: dict[str, list[Any]]) -> dict[str, int]:
    """Shortens the lists to DETAILED_MAX; returns how many entries each has lost, if it has lost any."""
    left_out = {name: len(each) - DETAILED_MAX for name, each in lists.items() if len(each) > DETAILED_MAX}
    for name in left_out:
        del lists[name][DETAILED_MAX:]
    return left_out


def _quorum(watch: Watch, figures: RaftFigures) -> dict[str, object]:
    raft, controller = watch.driver.node.raft, watch.driver.node.controller
    return {
        "state": figures.state,
        "leader_id": figures.leader_id,
        "epoch": figures.epoch,
        "voted_id": figures.voted_id,
        "is_active_controller": controller.active,
        "log_start_offset": figures.start_offset,
        "log_end_offset": figures.end_offset,
        "high_watermark": figures.high_watermark,
        "applied_offset": controller.next_replay_offset,
        "voters_reached": figures.reached_voters_count,
        "voters": [
            {
                "id": voter.key.id,
                "directory_id": uuid_to_string(voter.key.directory_id),
                "endpoints": {name: f"{host}:{port}" for name, (host, port) in voter.endpoints.items()},
            }
            for voter in raft.voter_set.nodes.values()
        ],
        "replicas": [
            {
                "id": replica.key.id,
                "directory_id": uuid_to_string(replica.key.directory_id),
                "is_voter": replica.is_voter,
                "lag_records": _known(replica.lag),
                "lag_ms": replica.behind_ms,
                "fetch_age_ms": _known(replica.last_fetch_ms),
            }
            for replica in sorted(figures.replicas, key=lambda each: (not each.is_voter, -each.behind_ms))
        ],
        "ghosts": _ghosts(watch, figures),
        "peers": [
            {
                "id": peer.peer_id,
                "address": f"{peer.host}:{peer.port}",
                "reached": peer.is_reached,
                "says": peer.text,
            }
            for peer in raft.peer_reports()
        ],
    }


def broker_states(controller: QuorumController, now_ms: int) -> list[dict[str, object]]:
    """Returns what only the active controller knows of each broker; those without a session are first, then
    those whose last heartbeat is oldest.
    """
    if not controller.active:
        return []
    heartbeats = controller.state.heartbeats
    found: list[dict[str, object]] = []
    for broker_id, contact_ms in sorted(heartbeats.contacts(), key=lambda each: (each[1], each[0])):
        state = heartbeats.state(broker_id)
        found.append(
            {
                "id": broker_id,
                "epoch": state.epoch,
                "fenced": state.fenced,
                "in_controlled_shutdown": state.shutting_down,
                "heartbeat_age_ms": None if contact_ms == NO_SESSION_MS else now_ms - contact_ms,
                "metadata_offset": _known(state.metadata_offset),
            }
        )
    return found


def _ghosts(watch: Watch, figures: RaftFigures) -> list[int] | None:
    """Returns the ids that `kraftctl_ghost_controllers` counts; None on a controller that does not lead."""
    counts = watch.counts.committed
    if figures.state != "leader" or counts is None:
        return None
    return ghosts_in(counts, figures)


def _known(value: int) -> int | None:
    return None if value < 0 else value
