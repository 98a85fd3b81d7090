"""`kraftctl quorum describe` prints the texts of kafka-metadata-quorum, which scripts read line by line."""

from __future__ import annotations

from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.uuids import ZERO_UUID, uuid_to_string

LABEL_WIDTH = 24
UNKNOWN = "-1"
COLUMNS = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)


def status_text(cluster_id: str, quorum: QuorumInfo) -> str:
    """Returns the text of `--status`: a line per label and value. Raises AdminError when the leader is
    not a voter.
    """
    leader = quorum.leader()
    furthest_behind = min(quorum.voters, key=lambda voter: voter.log_end_offset)
    values = {
        "ClusterId": escaped(cluster_id),
        "LeaderId": quorum.leader_id,
        "LeaderEpoch": quorum.leader_epoch,
        "HighWatermark": quorum.high_watermark,
        "MaxFollowerLag": leader.log_end_offset - furthest_behind.log_end_offset,
        "MaxFollowerLagTimeMs": _lag_time_ms(leader, furthest_behind),
        "CurrentVoters": _replicas_text(quorum, quorum.voters),
        "CurrentObservers": _replicas_text(quorum, quorum.observers),
    }
    return "\n".join(f"{label + ':':{LABEL_WIDTH}}{value}" for label, value in values.items())


def replication_text(quorum: QuorumInfo, wall_ms: int, *, human_readable: bool) -> str:
    """Returns the text of `--replication`: a table with the leader, then the followers, then the observers.

    `human_readable` prints times as their distance to `wall_ms`, the clock here; AdminError if that is
    behind the leader's.
    """
    leader = quorum.leader()
    followers = [voter for voter in quorum.voters if voter.replica_id != quorum.leader_id]
    replicas = [
        (leader, "Leader"),
        *((follower, "Follower") for follower in followers),
        *((observer, "Observer") for observer in quorum.observers),
    ]
    rows: list[tuple[str, ...]] = [COLUMNS]
    for replica, status in replicas:
        rows.append(
            (
                str(replica.replica_id),
                uuid_to_string(replica.directory_id),
                str(replica.log_end_offset),
                str(leader.log_end_offset - replica.log_end_offset),
                _time_text(replica.last_fetch_ms, wall_ms, human_readable),
                _time_text(replica.last_caught_up_ms, wall_ms, human_readable),
                status,
            )
        )
    return _table(rows)


def _lag_time_ms(leader: QuorumReplica, furthest_behind: QuorumReplica) -> int:
    if leader is furthest_behind:
        return 0
    if leader.last_caught_up_ms is None or furthest_behind.last_caught_up_ms is None:
        return -1
    return leader.last_caught_up_ms - furthest_behind.last_caught_up_ms


def _replicas_text(quorum: QuorumInfo, replicas: tuple[QuorumReplica, ...]) -> str:
    """Returns a text like JSON. It has no directory id when that is unknown, and no endpoints for
    observers.
    """
    entries: list[str] = []
    for replica in replicas:
        fields = [f'"id": {replica.replica_id}']
        if replica.directory_id != ZERO_UUID:
            fields.append(f'"directoryId": "{uuid_to_string(replica.directory_id)}"')
        endpoints = quorum.endpoints.get(replica.replica_id, ())
        if endpoints:
            quoted = ", ".join(f'"{endpoint}"' for endpoint in endpoints)
            fields.append(f'"endpoints": [{quoted}]')
        entries.append(f"{{{', '.join(fields)}}}")
    return f"[{', '.join(entries)}]"


def _time_text(timestamp_ms: int | None, wall_ms: int, human_readable: bool) -> str:
    if timestamp_ms is None:
        return UNKNOWN
    if not human_readable:
        return str(timestamp_ms)
    if not 0 < timestamp_ms <= wall_ms:
        raise AdminError(
            f"The time {timestamp_ms} of a replica is not before {wall_ms}, the time on this machine. Next"
            " step: compare the clock here with the leader's, or leave --human-readable out."
        )
    return f"{wall_ms - timestamp_ms} ms ago"


def _table(rows: list[tuple[str, ...]]) -> str:
    """Returns columns as wide as their longest value, each followed by a tab."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return "\n".join(
        "".join(f"{value:{width}}\t" for value, width in zip(row, widths, strict=True)) for row in rows
    )
