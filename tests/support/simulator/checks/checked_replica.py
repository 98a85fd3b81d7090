"""What the checks remember of one replica, across all lives of its process."""

from __future__ import annotations

from kraftctl.node.events import NodeEffect
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.log_file_names import LOG_SUFFIX
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.simulator.checks.isr_change_checks import PartitionKey
from tests.support.simulator.checks.log_history import Batch, ReplicaLog
from tests.support.simulator.checks.process_view import ControllerView, PartitionView, RaftView

NOT_STARTED = "not started"


class CheckedReplica:
    """A node with its directory: another directory is another replica (KIP-853).

    `stored` is the quorum-state that is known to be on the disk. `storing` is the last effect that changes
    files and is not known to have ended: after a crash, the disk may be as before it or as after it.
    `owed_commit` is a high watermark whose records are still to be appended in the same step, else -1.
    """

    __slots__ = (
        "active",
        "announced",
        "asked",
        "controller",
        "damaged_files",
        "deleted_votes",
        "epoch",
        "epoch_start",
        "fetched_snapshot",
        "forgot_log",
        "forgot_votes",
        "high_watermark",
        "is_gone",
        "is_misled",
        "is_recovering",
        "isr_refusals",
        "key",
        "last_change_end",
        "last_registration_ends",
        "leaders",
        "life",
        "log",
        "lost_log",
        "name",
        "newest_snapshot",
        "node_id",
        "owed_commit",
        "partition",
        "promised_nothing",
        "raft",
        "renounced_count",
        "replaced_asked",
        "shutdowns_asked",
        "snapshot_parts",
        "state_name",
        "step_request",
        "stored",
        "storing",
        "votes_asked",
    )  # fmt: skip

    raft: RaftView
    controller: ControllerView
    partition: PartitionView

    def __init__(self, key: ReplicaKey, leaders: dict[int, tuple[int, int]]) -> None:
        self.key = key
        self.leaders = leaders
        """Those of all epochs, the latest last."""
        self.node_id = key.id
        self.life = 0
        self.name = f"node {key.id}"
        self.log = ReplicaLog()
        self.lost_log: ReplicaLog | None = None
        """What it held before it lost its disk, and has not fetched again yet."""
        self.stored: ElectionState | None = None
        self.storing: NodeEffect | None = None
        self.snapshot_parts: list[bytes] = []
        self.is_recovering = False
        self.forgot_log = False
        self.is_gone = False
        """Its directory is lost with its identity."""
        self.forgot_votes = False
        self.deleted_votes = False
        """Its quorum-state was deleted after its last life, and has to be written again as it was."""
        self.is_misled = False
        self.promised_nothing = False
        """What its disk has lost was of no use to others."""
        self.damaged_files: set[str] = set()
        """The names of those that rotted since the last start."""
        self.newest_snapshot: OffsetAndEpoch | None = None
        self.fetched_snapshot: OffsetAndEpoch | None = None
        """Downloaded in the last life; it takes the place of the log, at the next start if need be."""
        self.high_watermark = -1
        self.owed_commit = -1
        self.announced = -1
        """The highest high watermark in its responses of this epoch."""
        self.epoch = 0
        self.epoch_start = -1
        self.state_name = NOT_STARTED
        self.active = False
        self.renounced_count = 0
        """How often it has ceased to be the active controller."""
        self.asked: dict[int, int] = {}
        """Request id -> everything before this offset must be committed when it is acknowledged."""
        self.replaced_asked: set[int] = set()
        """Ids of requests that came when a later leader was elected."""
        self.isr_refusals: dict[int, dict[PartitionKey, str]] = {}
        """Request id of an AlterPartition -> partitions that it must not change, and why."""
        self.votes_asked: dict[int, VoteRequest] = {}
        self.shutdowns_asked: dict[int, int] = {}
        """Request id of a heartbeat -> the same, if the response says that its broker may stop."""
        self.step_request = -1
        """The request whose step appends now, -1 when its records are known or it has none."""
        self.last_change_end = 0
        """Where the last appended batch ends that a reader of the image could see."""
        self.last_registration_ends: dict[int, int] = {}
        """The same of those that change the registration of a broker: its heartbeats see no others."""

    def begins(self, life: int, epoch: int) -> None:
        """Everything that a process knows only in memory starts again."""
        self.life = life
        self.name = f"node {self.node_id} (life {life})"
        self.is_misled = False
        self.storing = self.fetched_snapshot = None
        self.high_watermark = self.owed_commit = self.announced = -1
        self.epoch = epoch
        self.epoch_start = -1
        self.state_name = NOT_STARTED
        self.active = False
        self.asked.clear()
        self.shutdowns_asked.clear()
        self.votes_asked.clear()
        self.isr_refusals.clear()
        self.replaced_asked.clear()
        self.step_request = -1
        self.last_change_end = self.log.end
        self.forget_changes()
        self.log.restarted()

    def note_changes(self, batch: Batch) -> None:
        """It is appended."""
        if batch.changes_metadata():
            self.last_change_end = batch.end
        for broker_id in batch.registrations_changed():
            self.last_registration_ends[broker_id] = batch.end

    def forget_changes(self) -> None:
        """Those above the end of the log, which was cut."""
        self.last_change_end = min(self.last_change_end, self.log.end)
        for broker_id, end in self.last_registration_ends.items():
            self.last_registration_ends[broker_id] = min(end, self.log.end)

    def lose_log(self) -> None:
        """Leaders may have counted what is lost now."""
        if self.lost_log is None or self.lost_log.durable_position() < self.log.durable_position():
            self.lost_log = self.log
        self.log = ReplicaLog()
        self.newest_snapshot = None

    @property
    def is_voter(self) -> bool:
        """In the eyes of this replica. A static voter is known by its id alone."""
        node = self.raft.voter_set.nodes.get(self.node_id)
        return node is not None and node.key.directory_id in (NO_DIRECTORY_ID, self.key.directory_id)

    def is_damaged(self, kind: str) -> bool:
        """Whether a file has rotted whose name ends in `kind`."""
        return any(name.endswith(kind) for name in self.damaged_files)

    @property
    def log_is_damaged(self) -> bool:
        return self.is_damaged(LOG_SUFFIX)

    @property
    def promises_are_damaged(self) -> bool:
        """Nothing else says how far a damaged log went."""
        return RECOVERY_POINT in self.damaged_files

    @property
    def is_excused(self) -> bool:
        """It has lost what it held, knows that, and does not vote until it has it again."""
        return self.forgot_log or self.forgot_votes or self.is_recovering

    def holds(self, batch: Batch) -> bool:
        """On its disk; or it did, and does not vote without it."""
        lost = self.lost_log
        return self.log.is_durable(batch) or (lost is not None and lost.is_durable(batch))
