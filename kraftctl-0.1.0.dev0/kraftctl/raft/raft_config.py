"""The configuration of raft, named after Kafka's `controller.quorum.*` keys, and one of our own."""

from __future__ import annotations

from dataclasses import dataclass

OBSERVER_SESSION_TIMEOUT_MS = 300_000
"""Kafka's LeaderState has the same: DescribeQuorum forgets an observer that was silent for this long."""

CHECK_QUORUM_TIMEOUT_FACTOR = 1.5
"""KAFKA-15489: a leader that a majority stopped fetching from for 1.5 fetch timeouts resigns."""

OBSERVERS_MAX = 4096
"""Replica ids and directory ids come off the wire; the longest silent observer makes room."""

PARKED_BYTES_MAX = 8 << 20
"""The limit of all fetches that wait; one per connected replica is usual. `parked_fetches` decides which
wait beyond it."""

PARKED_FETCH_BYTES = 1_024
"""A Fetch holds this while it waits, with the message that it was read from; long texts in it are added."""

THROTTLE_MS_MAX = 1_000
"""A replica whose Fetch finds no place is asked for a pause of at most this."""

RESPONSE_BYTES_MAX = 8 << 20
"""Brokers before 4.3 request this much in one Fetch; no response is larger, whatever the request says."""

OBSERVER_FETCH_INTERVAL_MS = 1
"""An observer is woken at most once per interval. A storm of changes costs it, and its leader, a Fetch
in each interval instead of one for each change; a change after a quiet interval is sent immediately."""

OBSERVER_RESPONSES_PER_SECOND_MAX = 4_000
"""The limit of responses with news to all observers together: the interval grows with their number, 5 ms
for 20. A response and the Fetch that follows it take 33 us, so this is an eighth of a processor."""

OBSERVER_FETCH_INTERVAL_MS_MAX = 25
"""The longest interval for any number of observers: as long as Kafka's controller delays a change by
default (controller.quorum.append.linger.ms)."""

REPEATED_FETCHES_MAX = 8
"""This many identical fetches of one replica in a row get immediate responses; further ones wait."""

REPEATED_FETCH_DELAY_MS = 100
"""A replica that cannot use our response fetches again without backoff, hundreds of times a second."""


DAMAGED_DOWNLOAD_PAUSE_MS = 1_000
"""The pause after the first damaged download of a snapshot; it doubles after each further one in a row."""

DAMAGED_DOWNLOAD_PAUSE_MS_MAX = 64_000


@dataclass
class RaftConfig:
    election_timeout_ms: int = 1000
    """Every election draws its timeout from [T, 2T) (KIP-595)."""
    fetch_timeout_ms: int = 2000
    election_backoff_ms_max: int = 1000
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    fetch_bytes_max: int = 1 << 20
    """The largest response to one Fetch; a larger batch is still sent whole."""
    fetch_snapshot_bytes_max: int = 1 << 20
    observer_fetch_interval_ms: int = OBSERVER_FETCH_INTERVAL_MS
    """The shortest interval: see OBSERVER_RESPONSES_PER_SECOND_MAX. 0: observers are woken after each
    commit."""
    fetch_wait_ms_max: int = 500
    """The wait this replica asks for when it fetches itself; fixed in Kafka."""
    supported_kraft_version_min: int = 0
    supported_kraft_version_max: int = 1
    bootstrap_servers: list[tuple[str, int]] | None = None
    auto_join: bool = False
    """KIP-1186: whether this replica makes itself a voter while it observes."""
