"""All invariants of a simulated cluster behind a few calls.

For each process: `started`; then for each event `stepped` after the step, and `before` each effect; `ended`.
Everything that a node knows to be on its disk is taken from these calls, never from the simulated disk. So a
disk may carry out a flush earlier than it reports it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.node.events import ClientRequest, NodeEffect, NodeEvent
from kraftctl.raft.effects import AppendBatch, Respond
from kraftctl.raft.events import RequestCancelled
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.simulator.checks.broker_checks import BrokerChecks
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.log_history import LogHistory
from tests.support.simulator.checks.partition_checks import PartitionChecks
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.checks.quorum_checks import LEADER, QuorumChecks
from tests.support.simulator.checks.response_checks import ResponseChecks

FOLLOWER = "Follower"
ASKING = (ClientRequest, RequestCancelled)


class Checks:
    """`config` is that of any controller: its static defaults decide what topics inherit."""

    def __init__(self, config: ControllerConfig) -> None:
        self.history = LogHistory()
        self.partitions = PartitionChecks(config)
        self.partitions.sees_controllers = True
        self.quorum = QuorumChecks(self.history, self.partitions.committed, self._snapshot_written)
        self.brokers = BrokerChecks(self.history, self.partitions)
        self.responses = ResponseChecks(self.quorum, self.partitions.reference)
        self._images: dict[int, MetadataImage] = {}
        """By node id, the image that its process has; another one when it has loaded a snapshot."""
        self.stepped = self._stepped
        """stepped(process, event): after the node's step, before its effects."""
        self.before = self._before
        """before(process, effect): before the effect is carried out."""

    def _stepped(self, process: ProcessView, event: NodeEvent) -> None:
        self.quorum.stepped(process, event)
        if type(event) in ASKING:
            self.responses.stepped(process, event)
        else:
            self.responses.forget_step(process)
            if process.controller.image is not self._images[process.node_id]:
                self._image_replaced(process)

    def _image_replaced(self, process: ProcessView) -> None:
        """By what it has read from a snapshot."""
        self._images[process.node_id] = process.controller.image
        self.partitions.check_image(process, self.quorum.running[process.node_id].log, self.history)

    def _before(self, process: ProcessView, effect: NodeEffect) -> None:
        if type(effect) is AppendBatch:
            self.partitions.appending(process, effect)
        self.quorum.before(process, effect)
        if type(effect) is Respond:
            self.responses.responding(process, effect)
        elif type(effect) is AppendBatch:
            self.responses.appending(effect)

    def _snapshot_written(self, who: str, snapshot_id: OffsetAndEpoch, batches: list[bytes]) -> None:
        self.partitions.check_snapshot(who, snapshot_id, b"".join(batches))

    def started(self, process: ProcessView) -> None:
        """A process has recovered from its disk, and has made no step yet."""
        self._images[process.node_id] = process.controller.image
        self.quorum.started(process)

    def ended(self, process: ProcessView) -> None:
        """Killed, powered off, stopped, failed: it makes no further step."""
        self.quorum.ended(process)
        self.responses.ended(process)

    def stopped(self, process: ProcessView) -> None:
        """After `ended`, in order: all that it had is on the disk, except for a truncation that failed."""
        log = self.quorum.replicas[process.key].log
        log.durable_end = max(log.durable_end, min(process.partition.log.durable_end_offset, log.end))

    def forgot(self, key: ReplicaKey, *, log: bool, votes: bool) -> None:
        """See `QuorumChecks.forgot`."""
        self.quorum.forgot(key, log=log, votes=votes)

    def deleted_votes(self, key: ReplicaKey) -> None:
        """Its quorum-state is deleted, and nothing else: it has to know all the same what that said."""
        self.quorum.replicas[key].deleted_votes = True

    def replaced(self, key: ReplicaKey) -> None:
        """See `QuorumChecks.replaced`."""
        self.quorum.replaced(key)

    def damaged(self, key: ReplicaKey, file: str) -> None:
        """See `QuorumChecks.damaged`."""
        self.quorum.damaged(key, file)

    def lost_tail(self, key: ReplicaKey, end_offset: int) -> None:
        """See `CommitChecks.lost_tail`."""
        self.quorum.commits.lost_tail(key, end_offset)

    def misled(self, key: ReplicaKey) -> None:
        """Its leader seems to lack committed records: it may end itself for that."""
        self.quorum.replicas[key].is_misled = True

    @property
    def committed_end(self) -> int:
        """Exclusive: how much is committed."""
        return self.history.committed_end

    def checkpoint(
        self, running: Sequence[ProcessView], readable: Sequence[ProcessView] | None = None
    ) -> None:
        """Images of the running processes, now and then, between two events, and whole logs of those whose
        disks are `readable`, by default all. A damaged disk is no excuse for a wrong image.
        """
        self.quorum.checkpoint(running if readable is None else readable)
        for process in running:
            self.partitions.check_image(process, self.quorum.replicas[process.key].log, self.history)
        self.partitions.images.forget()

    def final(self, processes: Sequence[ProcessView], broker_ids: list[int], committed_end: int) -> None:
        """All running processes, some time after the last fault.

        That came when everything before `committed_end` was committed.
        """
        leader = self._final_leader(processes)
        voters = leader.raft.voter_set
        for process in processes:
            raft = process.raft
            who = f"node {process.node_id} in epoch {raft.epoch}"
            if raft.epoch != leader.raft.epoch or raft.state_name not in (LEADER, FOLLOWER):
                broken(
                    "NotStuckInProspective", f"{who} is {raft.state_name}, epoch {leader.raft.epoch} is led"
                )
            if raft.high_watermark < committed_end:
                broken("ValuesEventuallyAcked", f"{who} knows {raft.high_watermark} of {committed_end}")
            if raft.voter_set.nodes and raft.voter_set != voters:
                broken("ReconfigurationNotStuck", f"{who} knows {raft.voter_set!r}, the leader {voters!r}")
        if self.history.committed_end <= committed_end:
            broken("ValuesEventuallyAcked", f"nothing was committed after offset {committed_end}")
        self.brokers.check_converged(broker_ids, committed_end)

    def _final_leader(self, processes: Sequence[ProcessView]) -> ProcessView:
        leading = [process for process in processes if process.controller.active]
        if len(leading) != 1:
            states = [
                f"node {process.node_id} is {process.raft.state_name} of epoch {process.raft.epoch}, high"
                f" watermark {process.raft.high_watermark}{', active' if process.controller.active else ''}"
                for process in processes
            ]
            broken("EventuallyLeaderElected", "; ".join(states))
        return leading[0]
