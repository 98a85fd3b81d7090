"""What is committed: a majority of the voters has it on disk, keeps it, and all agree about it.

As reviewers of Kafka's simulator asked: while the newest voters are not committed, a majority of the voters
before them is accepted, too, for records up to their VotersRecord.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.log_history import Batch, LogHistory

NO_VOTERS = VoterSet([])


class CommitChecks:
    """`committed` is called with each batch that becomes committed, in the order of the log."""

    def __init__(self, history: LogHistory, committed: Callable[[Batch], None]) -> None:
        self.history = history
        self.replicas: dict[ReplicaKey, CheckedReplica] = {}
        self.first_voters = NO_VOTERS
        """The voters before any control record: static ones, or those of the 0-0 checkpoint."""
        self.counted_voters: VoterSet | None = None
        """The voters whose majority has committed the last batch."""
        self._committed = committed

    def commit(self, replica: CheckedReplica, offset: int) -> None:
        """`replica` considers everything before `offset` committed, and its log goes that far."""
        replica.owed_commit = -1
        log, history = replica.log, self.history
        count = log.count_before(offset)
        if count is None:
            broken(
                "ConsistentCommittedData", f"{replica.name}: the high watermark {offset} is inside a batch"
            )
        if count == 0:
            return
        known = len(history.committed)
        last = log.batches[count - 1]
        common = min(count, known)
        if common and log.batches[common - 1] is not history.committed[common - 1]:
            broken(
                "ConsistentCommittedData",
                f"{replica.name} in epoch {replica.epoch} considers {log.batches[common - 1]} committed,"
                f" another replica {history.committed[common - 1]}",
            )
        if count > known:
            self._check_majority(replica, last)
            for batch in log.batches[known:count]:
                history.commit(batch)
                self._committed(batch)

    def _check_majority(self, replica: CheckedReplica, last: Batch) -> None:
        """A majority of the newest voters; or of those before, as long as the newest are not committed."""
        newest_batch = replica.log.batches[-1].voters_batch
        newest = self.voters_of(newest_batch)
        self.counted_voters = newest
        if self._is_majority(newest, last):
            return
        if newest_batch is not None and newest_batch.end >= last.end:
            before = newest_batch.previous
            former = self.voters_of(None if before is None else before.voters_batch)
            if self._is_majority(former, last):
                self.counted_voters = former
                return
        broken(
            "MajorityReachedHighWatermark",
            f"{replica.name} in epoch {replica.epoch} committed {last}; durable ends:"
            f" {self._durable_ends(newest)}",
        )

    def voters_of(self, batch: Batch | None) -> VoterSet:
        if batch is None:
            return self.first_voters
        assert batch.voters is not None
        return batch.voters

    def _is_majority(self, voters: VoterSet, last: Batch) -> bool:
        """Of voters that hold `last`, or did when the leader counted them."""
        holders = 0
        for node in voters.nodes.values():
            replica = self._replica_of(node.key)
            if replica is not None and replica.holds(last):
                holders += 1
        return holders > len(voters) // 2

    def _is_kept(self, voters: VoterSet, last: Batch) -> bool:
        """No majority can elect a leader that lacks `last`. Voters that are gone for good elect none."""
        holders = gone = 0
        for node in voters.nodes.values():
            replica = self._replica_of(node.key)
            if replica is None:
                continue
            if replica.is_gone:
                gone += 1
            elif replica.holds(last):
                holders += 1
        majority = len(voters) // 2 + 1
        return holders > 0 and len(voters) - holders - gone < majority and gone <= (len(voters) - 1) // 2

    def _replica_of(self, key: ReplicaKey) -> CheckedReplica | None:
        """A static voter is known by its id alone."""
        if key.directory_id != NO_DIRECTORY_ID:
            return self.replicas.get(key)
        found = None
        for replica in self.replicas.values():
            if replica.node_id == key.id:
                found = replica
        return found

    def _durable_ends(self, voters: VoterSet) -> str:
        ends: list[str] = []
        for node in voters.nodes.values():
            replica = self._replica_of(node.key)
            ends.append(f"{node.key.id}: {'none' if replica is None else replica.log.durable_end}")
        return ", ".join(ends)

    def lost_tail(self, key: ReplicaKey, end_offset: int) -> None:
        """What a majority without it has on disk is gone from its disk, and nothing there says so."""
        log = self.replicas[key].log
        log.truncate_to(log.ends.index(end_offset) + 1)
        self.check_durability()

    def check_durability(self) -> None:
        """After each loss. The newest voters count, or those that committed: a change may be undone."""
        committed = self.history.committed
        if not committed or self.counted_voters is None:
            return
        last = committed[-1]
        if self._is_kept(self.counted_voters, last):
            return
        newest = self.voters_of(last.voters_batch)
        if not self._is_kept(newest, last):
            broken("Durability", f"the committed {last}; durable ends: {self._durable_ends(newest)}")
