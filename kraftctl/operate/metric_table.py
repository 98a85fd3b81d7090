"""Every metric: its names, type, meaning and labels.

`/metrics`, `kraftctl inspect metrics` and docs/metrics.md are made of this table.

Kafka's metrics have the names that dashboards and alerts read: those of the JMX exporter's configurations of
Strimzi (`raftmetrics`, `_total`) and Confluent (`raft_metrics`, `persec`), and of Strimzi's metrics reporter.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.exposition import COUNTER, GAUGE, HISTOGRAM, ONE, SUMMARY, Metric

LEADER_ONLY: Final = "1, on the leader"
PER_BROKER: Final = "brokers"
PER_BROKER_ACTIVE: Final = "brokers, on the active controller"
PER_REPLICA: Final = "voters and observers, on the leader"
PER_LISTENER: Final = "listeners"


def _raft(
    attribute: str, help_text: str, kind: str = GAUGE, *, is_max: bool = False, cardinality: str = ONE
) -> Metric:
    names = [f"kafka_server_raftmetrics_{attribute}", f"kafka_server_raft_metrics_{attribute}"]
    if is_max:
        names.append(f"kafka_server_raftmetrics_{attribute}_total")
    return Metric(f"raft.{attribute}", tuple(names), kind, help_text, (), cardinality)


def _channel(attribute: str, help_text: str) -> Metric:
    names = (
        f"kafka_server_raftchannelmetrics_{attribute}_total",
        f"kafka_server_raft_channel_metrics_{attribute}",
        f"kafka_server_raft_channel_metrics_{attribute}_total",
    )
    return Metric(f"channel.{attribute}", names, COUNTER, help_text)


def _controller(name: str, help_text: str, kind: str = GAUGE, *, has_value: bool = False) -> Metric:
    full = f"kafka_controller_kafkacontroller_{name}"
    return Metric(f"controller.{name}", (full, f"{full}_value") if has_value else (full,), kind, help_text)


def _meter(name: str, help_text: str) -> Metric:
    prefix = f"kafka_controller_controllerstats_{name}"
    return Metric(
        f"stats.{name}", (f"{prefix}_total", f"{prefix}persec", f"{prefix}persec_total"), COUNTER, help_text
    )


def _own(
    name: str, kind: str, help_text: str, labels: tuple[str, ...] = (), cardinality: str = ONE
) -> Metric:
    return Metric(name, (f"kraftctl_{name}",), kind, help_text, labels, cardinality)


RAFT: Final = (
    Metric(
        "raft.current_state",
        ("kafka_server_raftmetrics_current_state", "kafka_server_raft_metrics_current_state_info"),
        GAUGE,
        "1 with the present state as label: leader, follower, observer, candidate, prospective,"
        " prospective-voted, unattached or unattached-voted",
        ("current_state",),
    ),
    _raft("current_leader", "The leader by its id, -1 while it is unknown"),
    _raft("current_vote", "Who has the vote of this node, as an id, -1 without"),
    _raft("current_epoch", "The epoch of the quorum"),
    _raft("high_watermark", "The end of what is committed, exclusive; -1 while unknown"),
    _raft("log_end_offset", "The end of the log, exclusive"),
    _raft("log_end_epoch", "Epoch of the newest record"),
    _raft("number_of_voters", "Voters of the quorum"),
    _raft("number_unknown_voter_connections", "Voters without a known address"),
    _raft("number_of_observers", "Observers that fetch", cardinality=LEADER_ONLY),
    _raft(
        "uncommitted_voter_change", "1 while a change of the voters is not committed", cardinality=LEADER_ONLY
    ),
    _raft("commit_latency_avg", "Average time to commit in the last 30 s, in ms; NaN without commits"),
    _raft("commit_latency_max", "Longest time to commit in the last 30 s, in ms; a gauge", is_max=True),
    _raft("election_latency_avg", "Average time of elections in the last 30 s, in ms; NaN without one"),
    _raft("election_latency_max", "Longest election of the last 30 s, in ms; a gauge", is_max=True),
    _raft("fetch_records_rate", "Records that come from the leader each second, over the last 30 s"),
    _raft("append_records_rate", "Records appended as leader per second, in the last 30 s"),
    _raft("poll_idle_ratio_avg", "The part of the last 30 s in which the event loop did not compute"),
    _channel("incoming_byte", "Bytes received from other controllers"),
    _channel("outgoing_byte", "Bytes sent to other controllers"),
    _channel("request", "Requests sent to other controllers"),
    _channel("response", "Responses received from other controllers"),
    Metric(
        "channel.request_latency_avg",
        (
            "kafka_server_raftchannelmetrics_request_latency_avg",
            "kafka_server_raft_channel_metrics_request_latency_avg",
        ),
        GAUGE,
        "Average time of requests to other controllers in the last 30 s, in ms. A Fetch waits for records",
    ),
    Metric(
        "channel.request_latency_max",
        (
            "kafka_server_raftchannelmetrics_request_latency_max",
            "kafka_server_raft_channel_metrics_request_latency_max",
            "kafka_server_raftchannelmetrics_request_latency_max_total",
        ),
        GAUGE,
        "Longest request to another controller in the last 30 s, in ms; a gauge",
    ),
)

CONTROLLER: Final = (
    _controller("activecontrollercount", "1 on the active controller, else 0", has_value=True),
    _controller("activebrokercount", "Brokers that are not fenced"),
    _controller("fencedbrokercount", "Brokers that are fenced"),
    _controller("controlledshutdownbrokercount", "Brokers in controlled shutdown"),
    _controller("globaltopiccount", "Topics"),
    _controller("globalpartitioncount", "Partitions"),
    _controller("offlinepartitionscount", "Partitions without leader", has_value=True),
    _controller(
        "preferredreplicaimbalancecount",
        "Partitions that another than the preferred replica leads",
        has_value=True,
    ),
    _controller("metadataerrorcount", "Failures that were contained (ADR 5)"),
    _controller("lastappliedrecordoffset", "The last offset that is in the metadata of this controller"),
    _controller("lastappliedrecordtimestamp", "The timestamp of that record, in ms since 1970"),
    _controller("lastappliedrecordlagms", "The age of that record, in ms; 0 on the active controller"),
    _controller("lastcommittedrecordoffset", "The last offset that is committed"),
    _controller(
        "timedoutbrokerheartbeatcount", "Sessions of brokers that have expired on this controller", COUNTER
    ),
    _controller("eventqueueoperationsstartedcount", "Events that this controller has processed", COUNTER),
    _controller("newactivecontrollerscount", "How often another leader has become known", COUNTER),
    Metric(
        "controller.brokerregistrationstate",
        ("kafka_controller_kafkacontroller_brokerregistrationstate",),
        GAUGE,
        "10 fenced, 20 in controlled shutdown, 30 active",
        ("broker",),
        PER_BROKER,
    ),
    Metric(
        "controller.timesincelastheartbeatreceivedms",
        ("kafka_controller_kafkacontroller_timesincelastheartbeatreceivedms",),
        GAUGE,
        "Time since the last heartbeat, in ms, at most the session timeout",
        ("broker",),
        PER_BROKER_ACTIVE,
    ),
    _meter(
        "uncleanleaderelections", "Elections of leaders that may lack records, since the metadata was loaded"
    ),
    _meter("electionfromeligibleleaderreplicas", "Elections among eligible leader replicas (KIP-966)"),
    Metric(
        "events.queue",
        ("kafka_controller_controllereventmanager_eventqueuetimems",),
        SUMMARY,
        "Time that a call waits for the event loop, in ms: sampled four times a second, in the last minute",
    ),
    Metric(
        "events.queue_count",
        ("kafka_controller_controllereventmanager_eventqueuetimems_count_total",),
        COUNTER,
        "The number of these samples",
    ),
    Metric(
        "events.processing",
        ("kafka_controller_controllereventmanager_eventqueueprocessingtimems",),
        SUMMARY,
        "Time that an event takes the node, in ms, in the last minute",
    ),
    Metric(
        "loader.currentmetadataversion",
        ("kafka_server_metadataloader_currentmetadataversion",),
        GAUGE,
        "The level of metadata.version",
    ),
    Metric(
        "loader.currentcontrollerid",
        ("kafka_server_metadataloader_currentcontrollerid",),
        GAUGE,
        "The leader by its id, -1 while it is unknown",
    ),
    Metric(
        "loader.finalizedlevel",
        ("kafka_server_metadataloader_finalizedlevel",),
        GAUGE,
        "The level of a feature",
        ("featurename",),
        "features",
    ),
    Metric(
        "snapshots.bytes",
        ("kafka_server_snapshotemitter_latestsnapshotgeneratedbytes", "kraftctl_snapshot_bytes"),
        GAUGE,
        "The size of the newest snapshot",
    ),
    Metric(
        "snapshots.age",
        ("kafka_server_snapshotemitter_latestsnapshotgeneratedagems", "kraftctl_snapshot_age_ms"),
        GAUGE,
        "The time since there is another newest snapshot, or since the start, in ms",
    ),
)

OWN: Final = (
    _own("build_info", GAUGE, "1, with the version, and whether it is compiled", ("version", "compiled")),
    _own("ready", GAUGE, "1 if /readyz is"),
    _own(
        "uncommitted_records",
        GAUGE,
        "Records that may be uncommitted: more and more on a leader without a majority",
    ),
    _own("voters_reached", GAUGE, "Voters that fetch from this leader, with itself", (), LEADER_ONLY),
    _own("commit_age_ms", GAUGE, "Time since anything was committed, by looks once a second"),
    _own(
        "replica_lag_records",
        GAUGE,
        "Records that a replica has not fetched; absent until it has fetched in this epoch",
        ("replica", "directory", "role"),
        PER_REPLICA,
    ),
    _own(
        "replica_lag_ms",
        GAUGE,
        "Time since a replica had everything, 0 if it has. If it never had in this epoch, since the leader"
        " was elected: it lags at least as long, and the value grows",
        ("replica", "directory", "role"),
        PER_REPLICA,
    ),
    _own(
        "replica_fetch_age_ms",
        GAUGE,
        "Time since a replica has fetched; absent until it has in this epoch",
        ("replica", "directory", "role"),
        PER_REPLICA,
    ),
    _own(
        "broker_heartbeat_age_ms",
        GAUGE,
        "Time since the last heartbeat of a broker with a session",
        ("broker",),
        PER_BROKER_ACTIVE,
    ),
    _own(
        "broker_fencings_total",
        COUNTER,
        "Brokers that were fenced or marked as leaving, by this controller",
        ("reason",),
        "3",
    ),
    _own("reassigning_partitions", GAUGE, "Partitions that are being reassigned"),
    _own(
        "under_min_isr_partitions",
        GAUGE,
        "Partitions whose ISR has fewer members than min.insync.replicas, and than they have replicas. One"
        " without leader counts only by its ISR, which without ELR keeps its last member: all of those are"
        " in offlinepartitionscount",
    ),
    _own(
        "recovering_partitions",
        GAUGE,
        "Partitions whose leader recovers from an unclean election (KIP-704)",
    ),
    _own(
        "ghost_controllers",
        GAUGE,
        "Registered controllers that neither vote nor fetch: what they support limits upgrades",
        (),
        LEADER_ONLY,
    ),
    _own(
        "longest_turn_ms",
        GAUGE,
        "The longest turn of the event loop since the start; /status.json has its cause",
    ),
    _own(
        "longest_disk_wait_ms",
        GAUGE,
        "The longest wait for the disk since the start, with its time in the queue",
        ("what",),
        "kinds of writes",
    ),
    _own(
        "disk_wait_seconds",
        HISTOGRAM,
        "Waits for the disk; FlushLog has those of commits",
        ("what",),
        "kinds of writes",
    ),
    _own(
        "request_seconds",
        HISTOGRAM,
        "Time from a request to its response; Fetch waits for records",
        ("api",),
        "APIs that were asked",
    ),
    _own(
        "contained_failures_total", COUNTER, "Failures that concerned one request, task or connection (ADR 5)"
    ),
    _own("connections", GAUGE, "Open connections"),
    _own("connections_refused_total", COUNTER, "Connections that quotas have refused"),
    _own(
        "connections_closed_total",
        COUNTER,
        "Connections that were closed for the sake of others",
        ("reason",),
        "2",
    ),
    _own("budget_used_bytes", GAUGE, "Memory that all connections hold together", ("budget",), "2"),
    _own("budget_max_bytes", GAUGE, "The limit of that memory", ("budget",), "2"),
    _own("authentications_total", COUNTER, "Authentications of clients", ("result",), "5"),
    _own(
        "certificate_expires_seconds",
        GAUGE,
        "When the first certificate of a listener expires, in seconds since 1970",
        ("listener", "store"),
        PER_LISTENER,
    ),
    _own("ssl_reloads_total", COUNTER, "Replacements of keys and certificates", ("result",), "2"),
    _own("log_lines_dropped_total", COUNTER, "Lines of a log that were left out", ("log",), "3"),
    _own("disk_free_bytes", GAUGE, "Free room on the disk of the metadata log"),
)

PROCESS: Final = (
    Metric("process.cpu", ("process_cpu_seconds_total",), COUNTER, "Processor time of the process"),
    Metric("process.open_fds", ("process_open_fds",), GAUGE, "Open descriptors"),
    Metric("process.max_fds", ("process_max_fds",), GAUGE, "The limit of open descriptors"),
    Metric("process.resident", ("process_resident_memory_bytes",), GAUGE, "Resident memory"),
    Metric("process.virtual", ("process_virtual_memory_bytes",), GAUGE, "Virtual memory"),
    Metric(
        "process.start",
        ("process_start_time_seconds",),
        GAUGE,
        "When the process has started, in seconds since 1970",
    ),
)

METRICS: Final = (*RAFT, *CONTROLLER, *OWN, *PROCESS)
