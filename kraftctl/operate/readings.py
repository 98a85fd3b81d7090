"""Reads the figures of a controller in one turn of its loop: plain numbers, and no walk over its image."""

from __future__ import annotations

import logging
from typing import Final

import kraftctl
from kraftctl.controller.state.broker_heartbeat_manager import NO_SESSION_MS
from kraftctl.node import controller_node
from kraftctl.operate.committed_counts import ACTIVE, FENCED, IN_CONTROLLED_SHUTDOWN, Counts
from kraftctl.operate.watch import Watch
from kraftctl.raft.raft_figures import RaftFigures
from kraftctl.server.logs.log_handler import BackgroundHandler
from kraftctl.server.logs.logging import AUTHORIZER_LOGGER
from kraftctl.server.process.durations import BOUNDS_NS, Durations
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.uuids import uuid_to_string
from kraftctl_security.exposition import Buckets, Samples, Value

API_NAMES: Final = {key.value: key.name for key in ApiKey}

BOUNDS_SECONDS: Final = tuple(bound_ns / 1e9 for bound_ns in BOUNDS_NS)


def read(watch: Watch) -> Samples:
    """Returns all samples but those of the process and the disk; to be called on the loop."""
    now_ms, wall_ms = watch.clock.now_ms(), watch.clock.wall_ms()
    samples = samples_of_build()
    figures = watch.driver.node.raft.figures(now_ms)
    _raft(samples, figures)
    _set(samples, watch.window.samples())
    _controller(samples, watch, wall_ms)
    counts = watch.counts.committed
    if counts is not None:
        _image(samples, counts, figures)
    _brokers(samples, watch, now_ms)
    _events(samples, watch)
    _snapshot(samples, watch, now_ms, figures)
    _disk(samples, watch)
    _connections(samples, watch)
    _security(samples, watch)
    _logs(samples, watch)
    return samples


def samples_of_build() -> Samples:
    """Returns the sample of the version; the controller may be starting."""
    is_compiled = (controller_node.__file__ or "").endswith(".so")
    return {"build_info": [((kraftctl.__version__, str(is_compiled).lower()), 1)]}


def _set(samples: Samples, values: dict[str, Value] | dict[str, int] | dict[str, float]) -> None:
    for key, value in values.items():
        samples[key] = [((), value)]


def _raft(samples: Samples, figures: RaftFigures) -> None:
    samples["raft.current_state"] = [((figures.state,), 1)]
    _set(
        samples,
        {
            "raft.current_leader": figures.leader_id,
            "raft.current_vote": figures.voted_id,
            "raft.current_epoch": figures.epoch,
            "raft.high_watermark": figures.high_watermark,
            "raft.log_end_offset": figures.end_offset,
            "raft.log_end_epoch": figures.end_epoch,
            "raft.number_of_voters": figures.voters_count,
            "raft.number_unknown_voter_connections": figures.unknown_voters_count,
            "loader.currentcontrollerid": figures.leader_id,
        },
    )
    if figures.high_watermark >= 0:
        samples["uncommitted_records"] = [((), figures.end_offset - figures.high_watermark)]
    if figures.state != "leader":
        return
    samples["voters_reached"] = [((), figures.reached_voters_count)]
    samples["raft.number_of_observers"] = [((), figures.observers_count)]
    samples["raft.uncommitted_voter_change"] = [((), int(figures.is_changing_voters))]
    for key in ("replica_lag_records", "replica_lag_ms", "replica_fetch_age_ms"):
        samples[key] = []
    for replica in figures.replicas:
        role = "voter" if replica.is_voter else "observer"
        labels = (str(replica.key.id), uuid_to_string(replica.key.directory_id), role)
        samples["replica_lag_ms"].append((labels, replica.behind_ms))
        if replica.lag >= 0:
            samples["replica_lag_records"].append((labels, replica.lag))
        if replica.last_fetch_ms >= 0:
            samples["replica_fetch_age_ms"].append((labels, replica.last_fetch_ms))


def _controller(samples: Samples, watch: Watch, wall_ms: int) -> None:
    node = watch.driver.node
    controller = node.controller
    applied_wall_ms = node.last_record_wall_ms
    failures_count = controller.failures.metadata_error_count
    fencings = controller.state.fencings
    _set(
        samples,
        {
            "controller.activecontrollercount": int(controller.active),
            "controller.metadataerrorcount": failures_count,
            "controller.lastappliedrecordoffset": controller.next_replay_offset - 1,
            "controller.lastappliedrecordtimestamp": applied_wall_ms,
            "controller.lastcommittedrecordoffset": node.raft.high_watermark - 1,
            "controller.timedoutbrokerheartbeatcount": fencings.timed_out_count,
            "controller.eventqueueoperationsstartedcount": watch.driver.loop.events_count,
            "controller.newactivecontrollerscount": node.leaders_count,
            "contained_failures_total": failures_count,
            "ready": int(not watch.why_not_ready()),
        },
    )
    if controller.active or applied_wall_ms >= 0:
        lag_ms = 0 if controller.active else max(0, wall_ms - applied_wall_ms)
        samples["controller.lastappliedrecordlagms"] = [((), lag_ms)]
    samples["broker_fencings_total"] = [
        (("session timed out",), fencings.timed_out_count),
        (("controlled shutdown",), fencings.shutdown_count),
        (("asked by the broker",), fencings.asked_count),
    ]


def _image(samples: Samples, counts: Counts, figures: RaftFigures) -> None:
    states = [state for _, state in counts.broker_states]
    _set(
        samples,
        {
            "controller.activebrokercount": len(states) - states.count(FENCED),
            "controller.fencedbrokercount": states.count(FENCED),
            "controller.controlledshutdownbrokercount": states.count(IN_CONTROLLED_SHUTDOWN),
            "controller.globaltopiccount": counts.topics,
            "controller.globalpartitioncount": counts.partitions,
            "controller.offlinepartitionscount": counts.leaderless,
            "controller.preferredreplicaimbalancecount": counts.imbalanced,
            "reassigning_partitions": counts.reassigning,
            "under_min_isr_partitions": counts.under_min_isr,
            "recovering_partitions": counts.recovering,
            "stats.uncleanleaderelections": counts.unclean_elections,
            "stats.electionfromeligibleleaderreplicas": counts.elections_from_elr,
            "loader.currentmetadataversion": counts.metadata_version,
        },
    )
    assert ACTIVE > IN_CONTROLLED_SHUTDOWN, "the states are Kafka's"
    samples["loader.finalizedlevel"] = [((name,), level) for name, level in counts.levels]
    samples["controller.brokerregistrationstate"] = [
        ((str(broker_id),), state) for broker_id, state in counts.broker_states
    ]
    if figures.state == "leader":
        samples["ghost_controllers"] = [((), len(ghosts_in(counts, figures)))]


def ghosts_in(counts: Counts, figures: RaftFigures) -> list[int]:
    """Returns the registered controllers that neither vote nor fetch from this leader."""
    fetching = {replica.key.id for replica in figures.replicas} | {figures.leader_id}
    return [each for each in counts.controller_ids if each not in fetching]


def _brokers(samples: Samples, watch: Watch, now_ms: int) -> None:
    controller = watch.driver.node.controller
    if not controller.active:
        return
    timeout_ms = watch.config.broker_session_timeout_ms
    kafkas, ours = [], []
    for broker_id, contact_ms in controller.state.heartbeats.contacts():
        labels = (str(broker_id),)
        age_ms = now_ms - contact_ms
        if contact_ms == NO_SESSION_MS:
            kafkas.append((labels, timeout_ms))
            continue
        kafkas.append((labels, min(age_ms, timeout_ms)))
        ours.append((labels, age_ms))
    samples["controller.timesincelastheartbeatreceivedms"] = [*kafkas]
    samples["broker_heartbeat_age_ms"] = [*ours]


def _events(samples: Samples, watch: Watch) -> None:
    queued = watch.queued
    samples["events.queue"] = [((), watch.queued_window.summary(tuple(queued.counts), queued.total_ns / 1e6))]
    samples["events.queue_count"] = [((), queued.count)]
    counts, total_ms = watch.processed()
    samples["events.processing"] = [((), watch.processed_window.summary(counts, total_ms))]
    probe = watch.driver.probe
    samples["longest_turn_ms"] = [((), probe.longest_turn_ns / 1e6)]


def _snapshot(samples: Samples, watch: Watch, now_ms: int, figures: RaftFigures) -> None:
    samples["snapshots.bytes"] = [((), watch.driver.node.raft.latest_snapshot_bytes)]
    samples["snapshots.age"] = [((), max(0, now_ms - watch.snapshot_since_ms))]
    samples["commit_age_ms"] = [((), max(0, now_ms - watch.committed_since_ms))]


def _disk(samples: Samples, watch: Watch) -> None:
    probe = watch.driver.probe
    samples["longest_disk_wait_ms"] = [
        ((what,), wait_ns / 1e6) for what, wait_ns in sorted(probe.longest_wait_ns.items())
    ]
    samples["disk_wait_seconds"] = [
        ((what,), _seconds(durations)) for what, durations in sorted(probe.waits.items())
    ]
    if watch.free_bytes is not None:
        samples["disk_free_bytes"] = [((), watch.free_bytes)]


def _connections(samples: Samples, watch: Watch) -> None:
    metrics, accounts, peers = watch.server.metrics, watch.server.accounts, watch.driver.peer_metrics
    samples["request_seconds"] = [
        ((API_NAMES.get(api_key, str(api_key)),), _seconds(durations))
        for api_key, durations in sorted(metrics.durations.items())
    ]
    _set(
        samples,
        {
            "connections": metrics.connections_count,
            "connections_refused_total": metrics.refused_connections_count,
            "channel.incoming_byte": peers.received_bytes,
            "channel.outgoing_byte": peers.sent_bytes,
            "channel.request": peers.requests_count,
            "channel.response": peers.responses_count,
        },
    )
    samples["connections_closed_total"] = [
        (("idle, to make room",), metrics.closed_idle_count),
        (("too many bytes held",), metrics.closed_holders_count),
    ]
    budgets = {"unfinished requests": accounts.budget, "unread responses": accounts.unsent}
    samples["budget_used_bytes"] = [((name,), each.held_bytes) for name, each in budgets.items()]
    samples["budget_max_bytes"] = [((name,), each.bytes_max) for name, each in budgets.items()]


def _security(samples: Samples, watch: Watch) -> None:
    ssl_metrics = watch.server.security.ssl_metrics
    found = watch.server.metrics.authentications
    samples["authentications_total"] = [
        (("successful",), found.successful_authentication_total),
        (("failed",), found.failed_authentication_total),
        (("renewed",), found.successful_reauthentication_total),
        (("renewal failed",), found.failed_reauthentication_total),
        (("expired",), found.expired_connections_killed_count),
    ]
    samples["ssl_reloads_total"] = [
        (("successful",), ssl_metrics.reloads_count),
        (("failed",), ssl_metrics.failed_reloads_count),
    ]
    samples["certificate_expires_seconds"] = [
        ((listener, store), at_ms / 1000)
        for store, times in (
            ("keystore", ssl_metrics.certificate_expires_at_ms),
            ("truststore", ssl_metrics.authority_expires_at_ms),
        )
        for listener, at_ms in sorted(times.items())
    ]


def _logs(samples: Samples, watch: Watch) -> None:
    dropped = {
        "controller": _left_out_count(logging.getLogger()),
        "authorizer": _left_out_count(logging.getLogger(AUTHORIZER_LOGGER)),
    }
    if watch.audit_log is not None:
        dropped["audit"] = watch.audit_log.file.left_out_count
    samples["log_lines_dropped_total"] = [((name,), count) for name, count in dropped.items()]


def _left_out_count(logger: logging.Logger) -> int:
    return sum(each.file.left_out_count for each in logger.handlers if isinstance(each, BackgroundHandler))


def _seconds(durations: Durations) -> Buckets:
    return Buckets(BOUNDS_SECONDS, tuple(durations.counts), durations.total_ns / 1e9)
