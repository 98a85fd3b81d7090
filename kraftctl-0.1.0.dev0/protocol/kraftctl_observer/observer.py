"""Reads the committed part of the metadata log as an observer without a replica id (KIP-595, KIP-630).

It fetches like a follower (Fetch of `__cluster_metadata` partition 0, FetchSnapshot), but with replica id
-1: the leader responds and keeps no state about it. A leader also returns records that are not committed
yet, so everything here stops at the high watermark. Any controller can be asked first: one that is not the
leader returns the leader's id.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from typing import TypeVar

from kraftctl_observer.attempts import SILENCE_MIN_S, Attempts
from kraftctl_observer.believed_epoch import BelievedEpoch
from kraftctl_observer.fetched_batches import committed_batches, contents
from kraftctl_observer.log_reader import (
    LogChangedError,
    LogPosition,
    ObserverError,
    OffsetsGoneError,
    WrongClusterError,
)
from kraftctl_observer.saved_snapshot import SavedSnapshot
from kraftctl_observer.segment_file import batches_of_file
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kraftctl_protocol.generated.fetch_response import FetchResponse, NodeEndpoint, PartitionData
from kraftctl_protocol.generated.fetch_snapshot_request import (
    FetchSnapshotRequest,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.fetch_snapshot_response import NodeEndpoint as SnapshotEndpoint
from kraftctl_protocol.metadata_topic import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    NAME_CONTROLLERS,
    is_fetched_from_metadata_log,
    is_snapshot_of_metadata_log,
)
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.peer_limits import BATCH_BYTES_MAX, is_address, is_cluster_id
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch
from kraftctl_security.addresses.known_hosts import KnownHosts
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.blocking_connection import (
    BlockingConnection,
    Endpoint,
    UnservedRequestError,
    endpoint_text,
)
from kraftctl_security.client_config import ClientSecurity
from kraftctl_security.tls.shown_certificate import with_certificate

CONTROLLER_ENDPOINTS = 2
"""DescribeCluster's endpoint type for controllers (KIP-919)."""
FETCH_VERSION_MIN = 17
"""From this version on the response contains the leader's endpoint, the only way to find it (KIP-853)."""
DESCRIBE_CLUSTER_VERSION_MIN = 1
"""From this version on it can be asked for controllers (KIP-919)."""
SOFTWARE = "kraftctl-observer", "1"
FETCH_BYTES = 262_144
"""The size keeps the decoded records of a response in the processor's caches."""
SNAPSHOT_BYTES = 1_048_576
FETCH_WAIT_MS = 500
SAY_AFTER_S = 4.0
"""An election takes a second or two. Until the line about it, each controller may be silent for no longer."""

IS_BROKER = f"it is a broker, which does not serve the metadata log. Next step: {NAME_CONTROLLERS}"

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class QuorumUnavailableError(ObserverError):
    """No leader returned a usable response in time."""


class UnusableControllerError(Exception):
    """The node responds, but with an error that says nothing of the log; another node may do better."""


class AccessDeniedError(ObserverError):
    """The quorum refuses reading, which needs ClusterAction on the cluster; or it refuses the client."""


class QuorumObserver:
    """A `LogReader` of a quorum. Keeps one connection, to the leader once it is known. Not thread-safe."""

    def __init__(
        self,
        bootstrap: list[Endpoint],
        *,
        cluster_id: str | None = None,
        client_id: str = "kraftctl-observer",
        software: tuple[str, str] = SOFTWARE,
        timeout_s: float = 60.0,
        say_after_s: float = SAY_AFTER_S,
        read_security: Callable[[], ClientSecurity] = ClientSecurity,
    ) -> None:
        """Takes `read_security`, called for each connection; it may raise ValueError, and is PLAINTEXT
        by default.
        """
        assert bootstrap, "at least one controller to ask"
        self._bootstrap = bootstrap
        self._next_bootstrap = 0
        self._cluster_id = cluster_id
        self._client_id = client_id
        self._software = software
        self._timeout_s = timeout_s
        self._read_security = read_security
        share_s = timeout_s / (len(bootstrap) + 2)  # The lost leader may be among them too.
        self._silence_s = min(timeout_s, max(SILENCE_MIN_S, share_s))
        """The time that one controller may not respond: it leaves time for the others."""
        self._say_after_s = say_after_s
        self._attempts = self._begin("nothing")
        self._epoch = BelievedEpoch(len(bootstrap))
        self._leader: Endpoint | None = None
        self._hosts = KnownHosts()
        self._connection: BlockingConnection | None = None
        self._asked = bootstrap[0]
        """The controller of the latest connection, or attempt."""
        self._problem = ""
        """The reason why there is no usable response yet."""

    def close(self) -> None:
        """Closes the connection and never raises."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def cluster_id(self) -> str:
        """Returns the given id, otherwise from the controllers (which needs Alter on the cluster)."""
        if self._cluster_id is None:
            self._cluster_id = self._until_answered("DescribeCluster", self._ask_cluster_id)
        return self._cluster_id

    def position(self, offset: int, epoch: int) -> LogPosition:
        """Returns the leader's log state at `offset`. `epoch` is that of the record before it.

        It waits for a leader with a committed record. LogChangedError if the log is not the one read before.
        """

        def attempt() -> LogPosition | None:
            data = self._fetch_log(offset, epoch, 1, 0)
            if data is None or data.high_watermark < 0:
                return None
            snapshot = self._unreadable(data, offset)
            return LogPosition(data.high_watermark, self._epoch.value, snapshot)

        return self._until_answered("the high watermark", attempt)

    def epoch_of(self, offset: int) -> int | None:
        """Returns the epoch of the batch with a committed offset; None if the leader does not return it."""

        def attempt() -> tuple[int | None] | None:
            data = self._fetch(offset, self._epoch.value, 1, 0)
            if data is None:
                return None
            if self._unreadable(data, offset) is not None:
                return (None,)
            for batch in committed_batches(data, offset, self._epoch.value):
                return (batch.header.partition_leader_epoch,)
            return (None,)

        return self._until_answered(f"the epoch of offset {offset}", attempt)[0]

    def read(self, start_offset: int, epoch: int, end_offset: int) -> Iterator[RecordBatch]:
        """Yields batches that cover [start_offset, end_offset); the first and last may extend beyond.

        Everything below `end_offset` must have been committed. `epoch` is that of the record before
        `start_offset`, or a later one in the log. OffsetsGoneError when the range is deleted.
        """
        position = start_offset
        while position < end_offset:
            for batch in self._until_answered(f"offset {position}", self._attempt_to_read(position, epoch)):
                if position >= end_offset:
                    break
                begins_within = position == start_offset and batch.header.base_offset < position
                if batch.header.base_offset != position and not begins_within:
                    self._accept_gap(position, batch)
                yield batch
                position = batch.header.last_offset + 1
                epoch = max(epoch, batch.header.partition_leader_epoch)

    def read_snapshot(self, snapshot: OffsetAndEpoch) -> Iterator[RecordBatch]:
        """Yields all batches of a snapshot, which is first fetched into a temporary file as a whole."""
        with TemporaryFile() as file:
            download = SavedSnapshot(snapshot, file)
            while not download.progress.is_whole:
                self._until_answered(f"snapshot {snapshot}", self._attempt_at_snapshot(snapshot, download))
            file.flush()
            done = 0
            for batch in batches_of_file(file.fileno(), batch_bytes_max=2 * BATCH_BYTES_MAX):
                done += batch.header.size_bytes
                yield batch
            if done != download.progress.size_bytes:
                raise DecodeError(f"snapshot {snapshot} ends within a batch")

    def _attempt_to_read(self, position: int, epoch: int) -> Callable[[], list[RecordBatch] | None]:
        """Reads the committed batches from `position` on."""

        def attempt() -> list[RecordBatch] | None:
            data = self._fetch_log(position, epoch, FETCH_BYTES, FETCH_WAIT_MS)
            if data is None:
                return None
            snapshot = self._unreadable(data, position)
            if snapshot is not None:
                raise OffsetsGoneError(
                    f"offset {position} is deleted; the leader offers the snapshot {snapshot}"
                )
            committed = committed_batches(data, position, self._epoch.value)
            if not committed:
                self._problem = contents(data, position)
            return committed or None

        return attempt

    def _accept_gap(self, position: int, batch: RecordBatch) -> None:
        """Accepts a gap only for the first record of a log, see `_fetch_log`."""
        base_offset = batch.header.base_offset
        if position != 0 or base_offset != 1:
            raise LogChangedError(
                f"offset {position} was requested, but the log of the leader,"
                f" {endpoint_text(self._asked)}, continues at {base_offset}"
            )
        log.warning("offset 0 cannot be read: the leader offers a snapshot for it")

    def _unreadable(self, data: PartitionData, offset: int) -> OffsetAndEpoch | None:
        """Returns the snapshot to read instead of `offset`, if the leader requires that."""
        diverging = data.diverging_epoch
        if diverging.epoch > self._epoch.value or data.snapshot_id.epoch > self._epoch.value:
            raise DecodeError(f"it leads epoch {self._epoch.value}, and its log has later ones")
        if diverging.epoch >= 0:
            raise LogChangedError(
                f"the log up to offset {offset} is not the one that was read before: that of the leader,"
                f" {endpoint_text(self._asked)}, ends at {diverging.end_offset} in epoch {diverging.epoch}"
            )
        snapshot = data.snapshot_id
        if snapshot.epoch < 0 or snapshot.end_offset < 0:
            return None
        if snapshot.end_offset > max(data.high_watermark, 0):
            raise DecodeError(
                f"it offers a snapshot up to {snapshot.end_offset}, committed is {data.high_watermark}"
            )
        return OffsetAndEpoch(snapshot.end_offset, snapshot.epoch)

    def _attempt_at_snapshot(
        self, snapshot: OffsetAndEpoch, download: SavedSnapshot
    ) -> Callable[[], SavedSnapshot | None]:
        """Fetches the next slice."""

        def attempt() -> SavedSnapshot | None:
            connection = self._connected()
            download.follow(self._epoch.value)
            partition = PartitionSnapshot(
                partition=0,
                current_leader_epoch=self._epoch.value,
                snapshot_id=SnapshotId(end_offset=snapshot.offset, epoch=snapshot.epoch),
                position=download.progress.position,
            )
            topic = TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
            request = FetchSnapshotRequest(
                cluster_id=self._cluster_id, max_bytes=SNAPSHOT_BYTES, topics=[topic]
            )
            response = connection.ask(request, self._attempts.patience_s())
            assert isinstance(response, FetchSnapshotResponse)
            self._attempts.throttled(response.throttle_time_ms)
            if response.error_code == Errors.UNKNOWN_SERVER_ERROR:
                self._why_no_snapshot(snapshot, partition.current_leader_epoch)
                return None
            self._check_top_level(response.error_code)
            if not is_snapshot_of_metadata_log(response):
                raise DecodeError("FetchSnapshot was not answered with the metadata log alone")
            answer = response.topics[0].partitions[0]
            if answer.error_code == Errors.SNAPSHOT_NOT_FOUND:
                raise OffsetsGoneError(f"the leader has deleted the snapshot {snapshot}")
            if answer.error_code == Errors.NONE:
                download.add(answer, SNAPSHOT_BYTES)
                return download
            leader = answer.current_leader
            self._find_leader(
                answer.error_code,
                partition.current_leader_epoch,
                leader.leader_id,
                leader.leader_epoch,
                response.node_endpoints,
            )
            return None

        return attempt

    def _why_no_snapshot(self, snapshot: OffsetAndEpoch, asked_epoch: int) -> None:
        """Handles UNKNOWN_SERVER_ERROR, for which a Fetch shows the cause.

        Java (4.3 at least) fails on its own response whenever that has no records: the epoch is not the
        leader's, the node is not the leader, or the snapshot is deleted.
        """
        data = self._fetch(0, 0, 1, 0)
        if data is None or self._epoch.value != asked_epoch:
            return
        newest = OffsetAndEpoch(data.snapshot_id.end_offset, data.snapshot_id.epoch)
        if newest.epoch >= 0 and newest != snapshot:
            raise OffsetsGoneError(f"the leader has deleted the snapshot {snapshot}, it has {newest}")
        raise UnusableControllerError(f"answered with {Errors.UNKNOWN_SERVER_ERROR.name}")

    def _fetch_log(self, offset: int, epoch: int, max_bytes: int, wait_ms: int) -> PartitionData | None:
        """Handles a leader that has `offset`, but offers a snapshot (Kafka 4.3).

        It does so for offset 0: a Fetch of offset 1 returns the batch that contains it, which usually starts
        at 0. It also does so for a reader whose last epoch is before that of the leader's oldest snapshot.
        """
        data = self._fetch(offset, epoch, max_bytes, wait_ms)
        if data is None or data.snapshot_id.epoch < 0:
            return data
        if offset > data.log_start_offset or offset == data.log_start_offset == 0:
            data = self._fetch(max(1, offset), max(epoch, self._epoch.value), max_bytes, wait_ms)
        return data

    def _fetch(self, offset: int, epoch: int, max_bytes: int, wait_ms: int) -> PartitionData | None:
        """Returns a leader's response to one Fetch; None when it has to be repeated."""
        connection = self._connected()
        partition = FetchPartition(
            partition=0,
            current_leader_epoch=max(self._epoch.value, epoch),
            fetch_offset=offset,
            last_fetched_epoch=epoch,
        )
        topic = FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])
        request = FetchRequest(
            cluster_id=self._cluster_id, max_wait_ms=wait_ms, max_bytes=max_bytes, topics=[topic]
        )
        response = connection.ask(request, self._attempts.patience_s(), FETCH_VERSION_MIN)
        assert isinstance(response, FetchResponse)
        self._attempts.throttled(response.throttle_time_ms)
        self._check_top_level(response.error_code)
        if not is_fetched_from_metadata_log(response):
            raise DecodeError("Fetch was not answered with the metadata log alone")
        data = response.responses[0].partitions[0]
        leader, asked_epoch = data.current_leader, partition.current_leader_epoch
        if data.error_code != Errors.NONE:
            self._find_leader(
                data.error_code,
                asked_epoch,
                leader.leader_id,
                leader.leader_epoch,
                response.node_endpoints,
            )
            return None
        if leader.leader_epoch not in (asked_epoch, -1):
            raise DecodeError(f"it answers to epoch {asked_epoch} as if in epoch {leader.leader_epoch}")
        self._epoch.served(asked_epoch)
        return data

    def _check_top_level(self, error_code: int) -> None:
        if error_code == Errors.NONE:
            return
        if error_code == Errors.INCONSISTENT_CLUSTER_ID:
            raise WrongClusterError(
                f"the controllers do not belong to cluster {self._cluster_id}:"
                f" {endpoint_text(self._asked)} says so"
            )
        if error_code == Errors.CLUSTER_AUTHORIZATION_FAILED:
            raise self._access_denied("ClusterAction", "reading the metadata log", "")
        raise UnusableControllerError(f"answered with {error_of(error_code).name}")

    def _find_leader(
        self,
        error_code: int,
        asked_epoch: int,
        leader_id: int,
        leader_epoch: int,
        endpoints: list[NodeEndpoint] | list[SnapshotEndpoint],
    ) -> None:
        """Uses the response of a node that is not the leader, or is in another epoch."""
        if error_code == Errors.UNKNOWN_LEADER_EPOCH and asked_epoch == self._epoch.value:
            self._epoch.refused(leader_epoch, self._asked)
        else:
            self._epoch.named(leader_epoch, self._asked)
        found: Endpoint | None = None
        for node in endpoints:
            is_leader = node.node_id == leader_id >= 0 and leader_epoch == self._epoch.value
            if is_leader and is_address(node.host, node.port):
                found = (node.host, node.port)
        self._problem = (
            f"{error_of(error_code).name} was the response to epoch {asked_epoch}, and the leader "
            f"is {leader_id} of epoch {leader_epoch}"
        )
        log.debug("%s, at %s", self._problem, found)
        if found is None and self._connection is not None:
            self._connection.try_another_address("it knows no leader")
        if found is None or self._connection is None or found != self._connection.endpoint:
            self._forget_connection()
            self._leader = found

    def _access_denied(self, operation: str, purpose: str, instead: str) -> AccessDeniedError:
        """Returns the error; the quorum does not say as which principal it knows the client."""
        return AccessDeniedError(
            f"{endpoint_text(self._asked)} refuses {purpose}, which needs {operation} on the cluster: "
            "allow it to the principal of the client's properties (--command-config; User:ANONYMOUS "
            "without), with "
            f"kafka-acls --add --allow-principal ... --operation {operation} --cluster{instead}"
        )

    def _ask_cluster_id(self) -> str | None:
        connection = self._connected()
        request = DescribeClusterRequest(endpoint_type=CONTROLLER_ENDPOINTS)
        response = connection.ask(request, self._attempts.patience_s(), DESCRIBE_CLUSTER_VERSION_MIN)
        assert isinstance(response, DescribeClusterResponse)
        if response.error_code == Errors.CLUSTER_AUTHORIZATION_FAILED:
            instead = ", or give the id: --cluster-id, or the option clusterId"
            raise self._access_denied("Alter", "reading the cluster id", instead)
        if response.error_code != Errors.NONE:
            raise UnusableControllerError(
                f"DescribeCluster answered with {error_of(response.error_code).name}"
            )
        if not is_cluster_id(response.cluster_id):
            raise DecodeError(f"a cluster id of {len(response.cluster_id)} characters, not all printable")
        return response.cluster_id

    def _connected(self) -> BlockingConnection:
        if self._connection is None:
            endpoint = self._leader
            if endpoint is None:
                endpoint = self._bootstrap[self._next_bootstrap % len(self._bootstrap)]
                self._next_bootstrap += 1
            self._asked = endpoint
            try:
                security = self._read_security()
            except ValueError as error:
                raise UnusableControllerError(f"it was not asked: {error}") from error
            patience_s = self._attempts.patience_s()
            self._connection = BlockingConnection(
                endpoint,
                client_id=self._client_id,
                software=self._software,
                security=security,
                setup_timeout_s=patience_s,
                timeout_s=patience_s,
                known=self._hosts.host(*endpoint),
            )
            if self._connection.is_of_broker:
                raise UnusableControllerError(IS_BROKER)
        return self._connection

    def _forget_connection(self) -> None:
        self.close()
        self._leader = None

    def _begin(self, what: str) -> Attempts:
        return Attempts(
            what, timeout_s=self._timeout_s, say_after_s=self._say_after_s, silence_s=self._silence_s
        )

    def _until_answered(self, what: str, attempt: Callable[[], Answer | None]) -> Answer:
        """Returns the first response that is not None; QuorumUnavailableError after the timeout."""
        attempts = self._attempts = self._begin(what)
        while attempts.may_continue():
            knew = self._epoch.value
            self._problem = ""
            try:
                answer = attempt()
                if answer is not None:
                    return answer
                problem = self._problem or "it does not know how far all is committed"
                attempts.failed(endpoint_text(self._asked), problem)
            except (OSError, DecodeError, UnservedRequestError, UnusableControllerError) as error:
                attempts.failed(endpoint_text(self._asked), str(error))
                self._forget_connection()
            except AuthenticationFailedError as error:
                reason = with_certificate(error, *self._asked)
                raise AccessDeniedError(
                    f"no connection to the controller at {endpoint_text(self._asked)}: {reason}. Next step:"
                    f" check {error.keys} of the client's properties file"
                ) from error
            attempts.pause(has_news=self._epoch.value != knew)
        raise QuorumUnavailableError(attempts.end())
