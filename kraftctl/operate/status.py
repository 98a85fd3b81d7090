"""What the metadata log lacks: the quorum and the brokers as this controller sees them now."""

from __future__ import annotations

import kraftctl
from kraftctl.controller.state.broker_heartbeat_manager import NO_SESSION_MS
from kraftctl.operate.watch import Watch
from kraftctl.raft.raft_figures import RaftFigures
from kraftctl_protocol.uuids import uuid_to_string


def status_of(watch: Watch) -> dict[str, object]:
    """Returns the content; to be called on the loop. Times are ages in ms, null for never."""
    now_ms = watch.clock.now_ms()
    node = watch.driver.node
    raft, controller = node.raft, node.controller
    figures = raft.figures(now_ms)
    reasons = watch.why_not_ready()
    effect, waiting_seconds = watch.driver.oldest_wait(watch.clock.now_ns())
    probe = watch.driver.probe
    ssl_metrics = watch.server.security.ssl_metrics
    return {
        "version": kraftctl.__version__,
        "node_id": raft.node_id,
        "cluster_id": controller.state.cluster_id,
        "wall_ms": watch.clock.wall_ms(),
        "ready": not reasons,
        "reasons": reasons,
        "quorum": _quorum(watch, figures),
        "brokers": _brokers(watch, now_ms),
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
                "lag_records": replica.lag,
                "lag_ms": _known(replica.behind_ms),
                "fetch_age_ms": _known(replica.last_fetch_ms),
            }
            for replica in figures.replicas
        ],
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


def _brokers(watch: Watch, now_ms: int) -> list[dict[str, object]]:
    """Returns what only the active controller knows of each broker."""
    controller = watch.driver.node.controller
    if not controller.active:
        return []
    heartbeats = controller.state.heartbeats
    found: list[dict[str, object]] = []
    for broker_id, contact_ms in heartbeats.contacts():
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


def _known(value: int) -> int | None:
    return None if value < 0 else value
