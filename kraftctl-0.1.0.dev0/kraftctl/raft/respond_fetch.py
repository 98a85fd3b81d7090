"""The response to a Fetch, sent now or when there are records or a new high watermark (KIP-595, KIP-630)."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import RespondFetch
from kraftctl.raft.high_watermark import UNKNOWN_OFFSET
from kraftctl.raft.leader_endpoint import (
    FROM_VERSION_OF_FETCH,
    leader_for_observers,
    name_leader_endpoint,
)
from kraftctl.raft.log_state import SNAPSHOT
from kraftctl.raft.parked_fetches import ParkedFetch
from kraftctl.raft.raft_config import (
    OBSERVER_FETCH_INTERVAL_MS_MAX,
    OBSERVER_RESPONSES_PER_SECOND_MAX,
    THROTTLE_MS_MAX,
)
from kraftctl.raft.states import Leader
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
    SnapshotId,
)
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

CURRENT_LEADER_FROM_VERSION = 12


def has_news(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> bool:
    """Returns whether a response now has anything new for a replica whose log is a prefix of ours."""
    if fetch.fetch_offset < _readable_end_offset(core, leader, fetch):
        return True
    return leader.high_watermark > fetch.request_high_watermark


def _readable_end_offset(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> int:
    """Returns the end for a replica: observers read only committed records, so one response has these
    and the high watermark.
    """
    return core.log.end_offset if leader.is_voter(fetch.key) else leader.high_watermark


def answer(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> None:
    """Responds to a replica whose log is a prefix of ours; the response may have nothing new."""
    _respond_alike(core, leader, [fetch])


def _respond_alike(core: RaftCore, leader: Leader, fetches: list[ParkedFetch]) -> None:
    """Sends the same response to each: they fetch from the same offset with the same limits."""
    first = fetches[0]
    response = _response(core, first.listener_name, first.version, Errors.NONE, leader.high_watermark)
    end_offset = _readable_end_offset(core, leader, first)
    gathers_until_ms = core.now_ms + observer_interval_ms(core, leader)
    for fetch in fetches:
        if leader.is_voter(fetch.key):
            leader.inform(fetch.key.id, fetch.connection_id)
        elif fetch.observer is not None and has_news(core, leader, fetch):
            fetch.observer.was_answered(end_offset=end_offset, gathers_until_ms=gathers_until_ms)
    request_ids = [fetch.request_id for fetch in fetches]
    if first.fetch_offset < end_offset:
        core.emit(RespondFetch(request_ids, response, first.fetch_offset, end_offset, first.max_bytes))
        return
    for request_id in request_ids:
        core.respond(request_id, response)


def respond_throttled(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> None:
    """Responds immediately to a Fetch that cannot wait here, and asks its replica to make the pause."""
    response = _response(core, fetch.listener_name, fetch.version, Errors.NONE, leader.high_watermark)
    response.throttle_time_ms = max(1, min(fetch.deadline_ms - core.now_ms, THROTTLE_MS_MAX))
    core.respond(fetch.request_id, response)


def respond_elsewhere(
    core: RaftCore, leader: Leader, fetch: ParkedFetch, kind: int, place: OffsetAndEpoch
) -> None:
    """Names where a replica must truncate, or which snapshot it must load: its log is not a prefix of
    ours.
    """
    response = _response(core, fetch.listener_name, fetch.version, Errors.NONE, leader.high_watermark)
    partition = response.responses[0].partitions[0]
    if kind == SNAPSHOT:
        partition.snapshot_id = SnapshotId(end_offset=place.offset, epoch=place.epoch)
    else:
        partition.diverging_epoch = EpochEndOffset(epoch=place.epoch, end_offset=place.offset)
    core.respond(fetch.request_id, response)


def redirect_trimmed_fetches(core: RaftCore) -> None:
    """Responds to fetches whose next record retention has removed: only a snapshot has it now."""
    leader = core.leader()
    if leader is None:
        return
    for fetch in core.parked.all():
        if fetch.fetch_offset < core.log.start_offset:
            core.parked.remove(fetch.request_id)
            kind, place = core.log.validate(fetch.fetch_offset, fetch.last_fetched_epoch)
            respond_elsewhere(core, leader, fetch, kind, place)


def respond_error(core: RaftCore, request_id: int, listener_name: str, version: int, error: Errors) -> None:
    response = _response(core, listener_name, version, error, UNKNOWN_OFFSET)
    core.respond(request_id, response)


def wake_voter_fetches(core: RaftCore, leader: Leader) -> None:
    """Responds to every voter that does not know yet what was appended or committed.

    Voters must fetch a record before it can be committed.
    """
    if leader.is_only_voter:
        return
    for fetch in core.parked.all():
        if not fetch.delayed and leader.is_voter(fetch.key) and has_news(core, leader, fetch):
            core.parked.remove(fetch.request_id)
            answer(core, leader, fetch)


def observer_interval_ms(core: RaftCore, leader: Leader) -> int:
    """Returns how long an observer waits for more after a response, so that all together ask rarely
    enough.
    """
    shortest_ms = core.config.observer_fetch_interval_ms
    if shortest_ms == 0:
        return 0
    shared_ms = 1000 * len(leader.observer_states) // OBSERVER_RESPONSES_PER_SECOND_MAX
    return max(shortest_ms, min(shared_ms, OBSERVER_FETCH_INTERVAL_MS_MAX))


def gathers(core: RaftCore, fetch: ParkedFetch) -> bool:
    """Returns whether an observer had a response so recently that it waits for more: the next one has all.

    A storm of changes so costs each observer one Fetch in an interval, not one for each change.
    """
    return fetch.gathers_until_ms() > core.now_ms


def wake_observers_if_due(core: RaftCore) -> None:
    """Responds to observers at the end of a step: clients and voters do not wait for them."""
    leader = core.leader()
    if leader is None or leader.observers_due_ms > core.now_ms:
        return
    leader.observers_are_awake()
    awake: dict[tuple[int, int, int, str], list[ParkedFetch]] = {}
    for fetch in core.parked.all():
        if fetch.delayed or leader.is_voter(fetch.key) or not has_news(core, leader, fetch):
            continue
        if gathers(core, fetch):
            leader.wake_observers_at(fetch.gathers_until_ms())
        else:
            core.parked.remove(fetch.request_id)
            wanted = (fetch.fetch_offset, fetch.max_bytes, fetch.version, fetch.listener_name)
            awake.setdefault(wanted, []).append(fetch)
    for fetches in awake.values():
        _respond_alike(core, leader, fetches)


def respond_to_expired(core: RaftCore) -> None:
    """Responds to fetches whose maximum wait is over."""
    for fetch in core.parked.take_expired(core.now_ms):
        leader = core.leader()
        if leader is None:
            respond_parked_error(core, fetch, Errors.NOT_LEADER_OR_FOLLOWER)
        else:
            answer(core, leader, fetch)


def fail_parked_fetches(core: RaftCore, error: Errors) -> None:
    """Fails all parked fetches because this node does not lead any longer: the replicas must find the
    new leader.
    """
    for fetch in core.parked.all():
        core.parked.remove(fetch.request_id)
        respond_parked_error(core, fetch, error)


def respond_parked_error(core: RaftCore, fetch: ParkedFetch, error: Errors) -> None:
    respond_error(core, fetch.request_id, fetch.listener_name, fetch.version, error)


def _response(
    core: RaftCore, listener_name: str, version: int, error: Errors, high_watermark: int
) -> FetchResponse:
    """Returns a response that names the leader, if known, and where it listens."""
    state = core.state
    partition = PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        high_watermark=high_watermark,
        last_stable_offset=UNKNOWN_OFFSET,
        log_start_offset=core.log.start_offset,
        records=b"",
    )
    if version >= CURRENT_LEADER_FROM_VERSION:
        leader_id = leader_for_observers(core, listener_name, version >= FROM_VERSION_OF_FETCH)
        partition.current_leader = LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=state.epoch)
    topic = FetchableTopicResponse(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    response = FetchResponse(responses=[topic])
    name_leader_endpoint(core, listener_name, version, response)
    return response
