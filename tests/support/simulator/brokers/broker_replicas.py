"""ReplicaManager of a model broker: leads and follows partitions as its image says, and changes ISRs.

Replication runs by time steps: followers read the log of their leader directly. A leader acknowledges what
the whole maximal ISR has (KIP-497: the committed ISR, and what an AlterPartition without a response may have
added), and nothing while the ISR is smaller than min.insync.replicas.
"""

from __future__ import annotations

import random

from kraftctl.metadata.directory_id import is_reserved
from kraftctl.metadata.leader_recovery_state import RECOVERED
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.config_resource import BROKER, TOPIC
from kraftctl_protocol.generated.alter_partition_response import PartitionData as AlteredPartition
from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.brokers.broker_data import ReplicaLog
from tests.support.simulator.brokers.broker_disk import BrokerDisk
from tests.support.simulator.brokers.broker_image import PartitionKey
from tests.support.simulator.brokers.broker_world import BrokerWorld
from tests.support.simulator.brokers.isr_changes import IsrChange, IsrChanges

RECORDS_PER_ROUND_MAX = 5
FORMER_EPOCHS_SHARE = 0.3
"""Of what a hasty leader asks for: as if it had asked before its followers restarted (KIP-903)."""


class LeaderRole:
    """A partition that this broker leads. `fetch_ends` has what each follower has, as far as it is known."""

    __slots__ = (
        "caught_up_us",
        "fetch_ends",
        "follower_epochs",
        "isr",
        "key",
        "leader_epoch",
        "log",
        "min_isr",
        "partition_epoch",
        "pending",
        "recovery_state",
        "replicas",
        "start_offset",
    )

    def __init__(self, key: PartitionKey, state: PartitionRegistration, log: ReplicaLog, now_us: int) -> None:
        self.key = key
        self.log = log
        self.leader_epoch = int(state.leader_epoch)
        self.start_offset = log.end_offset
        self.fetch_ends: dict[int, int] = {}
        self.follower_epochs: dict[int, int] = {}
        self.caught_up_us = dict.fromkeys(state.replicas, now_us)
        self.partition_epoch = -1
        self.pending: IsrChange | None = None
        self.min_isr = 1
        self.adopt(state)

    def adopt(self, state: PartitionRegistration) -> None:
        """The metadata log has a newer state of this leader epoch: nothing is pending any more."""
        if state.partition_epoch < self.partition_epoch:
            return
        if state.partition_epoch > self.partition_epoch:
            self.pending = None
        self.partition_epoch = int(state.partition_epoch)
        self.isr = tuple(state.isr)
        self.replicas = tuple(state.replicas)
        self.recovery_state = int(state.leader_recovery_state)

    def maximal_isr(self) -> tuple[int, ...]:
        if self.pending is None:
            return self.isr
        return (*self.isr, *[replica for replica in self.pending.isr if replica not in self.isr])

    def advance_high_watermark(self, broker_id: int) -> bool:
        """Whether it has risen. What the smallest replica of the maximal ISR has is committed."""
        if len(self.isr) < self.min_isr:
            return False
        end_offset = self.log.end_offset
        for replica in self.maximal_isr():
            if replica != broker_id:
                end_offset = min(end_offset, self.fetch_ends.get(replica, -1))
        if end_offset <= self.log.high_watermark:
            return False
        self.log.high_watermark = end_offset
        return True


class FollowerRole:
    """A partition that this broker follows; `truncated` once its log is a prefix of the leader's."""

    __slots__ = ("key", "leader", "leader_epoch", "log", "truncated")

    def __init__(self, key: PartitionKey, state: PartitionRegistration, log: ReplicaLog) -> None:
        self.key = key
        self.log = log
        self.leader = int(state.leader)
        self.leader_epoch = int(state.leader_epoch)
        self.truncated = False


class ReplicaManager:
    """The replicas of one broker process; `paused` if it can reach no other broker."""

    def __init__(
        self, disk: BrokerDisk, world: BrokerWorld, isr_changes: IsrChanges, rng: random.Random
    ) -> None:
        self.broker_id = disk.broker_id
        self.broker_epoch = -1
        self.paused = False
        self._image = disk.image
        self._data = world.data
        self._peers = world.replica_managers
        self._isr_changes = isr_changes
        self._mix = world.mix
        self._rng = rng
        self._counts = world.counts
        self._local_directories = disk.local_directories
        self._directories = disk.directories
        self.offline_directories: list[Uuid] = []
        self._unassigned: list[PartitionKey] = []
        self.leaders: dict[PartitionKey, LeaderRole] = {}
        self.followers: dict[PartitionKey, FollowerRole] = {}
        self._known_epochs: dict[int, int] = {}
        self._former_epochs: dict[int, int] = {}
        """Broker id -> broker epoch of the process before the present one, of followers that have fetched."""
        self._active = False

    def begin(self, broker_epoch: int, now_us: int) -> None:
        """The first image is published."""
        self.broker_epoch = broker_epoch
        self._active = True
        self._peers[self.broker_id] = self
        self._image.all_changed = True
        self.publish(now_us)

    def end(self) -> None:
        """The process has ended."""
        self._active = False
        self.leaders.clear()
        self.followers.clear()
        if self._peers.get(self.broker_id) is self:
            del self._peers[self.broker_id]

    def publish(self, now_us: int) -> None:
        """Take the roles that the image gives. An open metadata transaction hides its records."""
        image = self._image
        if not self._active or image.image.journal.transaction_start is not None:
            return
        if image.all_changed:
            image.all_changed = False
            image.changed_partitions.clear()
            self._publish_all(now_us)
        elif image.changed_partitions:
            for key in dict.fromkeys(image.changed_partitions):
                self._publish_partition(key, image.image.topics.partition(*key), now_us)
            image.changed_partitions.clear()

    def _publish_all(self, now_us: int) -> None:
        present = self._image.partitions()
        existing = {key for key, _ in present}
        for key in self._data.replicas_of(self.broker_id):
            if key not in existing:
                self._publish_partition(key, None, now_us)
        for key, partition in present:
            self._publish_partition(key, partition, now_us)

    def _publish_partition(self, key: PartitionKey, state: PartitionRegistration | None, now_us: int) -> None:
        if state is None or self.broker_id not in state.replicas:
            self._drop(key)
            self._data.delete(key, self.broker_id)
            return
        if self._is_offline(key, state):
            self._drop(key)
        elif state.leader == self.broker_id:
            self._lead(key, state, now_us)
        else:
            self._follow(key, state)

    def _drop(self, key: PartitionKey) -> None:
        self.leaders.pop(key, None)
        self.followers.pop(key, None)
        self._isr_changes.forget(key)

    def _is_offline(self, key: PartitionKey, state: PartitionRegistration) -> bool:
        """Also chooses the directory of a new replica."""
        local = self._local_directories.get(key)
        if local is None:
            assigned = state.directory(self.broker_id)
            online = [each for each in self._directories if each not in self.offline_directories]
            if assigned is not None and not is_reserved(assigned) and assigned in self._directories:
                local = assigned
            elif not online:
                return True
            else:
                local = self._rng.choice(online)
            self._local_directories[key] = local
        if state.directory(self.broker_id) != local and len(self._directories) > 1:
            self._unassigned.append(key)
        return local in self.offline_directories

    def take_unassigned(self) -> list[PartitionKey]:
        """Replicas in a directory that the metadata log did not have, when it last changed."""
        unassigned, self._unassigned = self._unassigned, []
        return unassigned

    def directory_of(self, key: PartitionKey) -> Uuid | None:
        return self._local_directories.get(key)

    def lose_directory(self, directory: Uuid, now_us: int) -> None:
        """Everything in it is offline until the broker starts again."""
        self.offline_directories.append(directory)
        for key in [*self.leaders, *self.followers]:
            if self._local_directories.get(key) == directory:
                self._publish_partition(key, self._image.image.topics.partition(*key), now_us)

    def _lead(self, key: PartitionKey, state: PartitionRegistration, now_us: int) -> None:
        self.followers.pop(key, None)
        role = self.leaders.get(key)
        if role is None or role.leader_epoch < state.leader_epoch:
            role = self.leaders[key] = LeaderRole(key, state, self._data.log(key, self.broker_id), now_us)
            self._isr_changes.forget(key)
            self._data.leads(self.broker_id, key, role.leader_epoch)
            self._counts["leaderships"] += 1
        else:
            role.adopt(state)
            if role.pending is None:
                self._isr_changes.forget(key)
        role.min_isr = self._min_isr(key, state)

    def _follow(self, key: PartitionKey, state: PartitionRegistration) -> None:
        if self.leaders.pop(key, None) is not None:
            self._isr_changes.forget(key)
        role = self.followers.get(key)
        if role is None or role.leader_epoch < state.leader_epoch:
            self.followers[key] = FollowerRole(key, state, self._data.log(key, self.broker_id))

    def _min_isr(self, key: PartitionKey, state: PartitionRegistration) -> int:
        """min.insync.replicas of the topic, the cluster, or 1; never more than there are replicas."""
        configurations = self._image.image.configurations
        topic = self._image.image.topics.topics[key[0]]
        for resource in ((TOPIC, topic.name), (BROKER, "")):
            value = configurations.config(*resource).get("min.insync.replicas")
            if value is not None:
                return min(int(value), len(state.replicas))
        return 1

    def run_round(self, now_us: int) -> None:
        """One step of replication: write, fetch, and look for followers that lag."""
        if self.paused or not self._active:
            return
        for follower in self.followers.values():
            self._fetch(follower, now_us)
        for leader in list(self.leaders.values()):
            self._write(leader)
            self._shrink(leader, now_us)

    def _write(self, role: LeaderRole) -> None:
        if self._rng.random() < self._mix.producing_share:
            role.log.append(role.leader_epoch, self._rng.randint(1, RECORDS_PER_ROUND_MAX))
        self._acknowledge(role)
        if role.recovery_state != RECOVERED and role.pending is None:
            self._propose(role, role.isr)
            self._counts["leaders_recovered"] += 1

    def _acknowledge(self, role: LeaderRole) -> None:
        if role.advance_high_watermark(self.broker_id):
            self._data.acknowledge(self.broker_id, role.key, role.leader_epoch, role.log)

    def _fetch(self, role: FollowerRole, now_us: int) -> None:
        peer = self._peers.get(role.leader)
        if peer is None or peer.paused:
            return
        leader = peer.leaders.get(role.key)
        if leader is None or leader.leader_epoch != role.leader_epoch:
            return
        if not role.truncated:
            role.truncated = True
            role.log.truncate(role.log.common_end(leader.log))
        end_offset = leader.log.end_offset
        if self._rng.random() < 0.1 and role.log.end_offset < end_offset:
            end_offset = self._rng.randint(role.log.end_offset, end_offset)
        role.log.copy_from(leader.log, end_offset)
        role.log.high_watermark = min(leader.log.high_watermark, end_offset)
        peer.note_fetch(leader, self.broker_id, self.broker_epoch, end_offset, now_us)

    def note_fetch(
        self, role: LeaderRole, follower: int, follower_epoch: int, end_offset: int, now_us: int
    ) -> None:
        """A follower has everything below `end_offset`."""
        known_epoch = self._known_epochs.get(follower, follower_epoch)
        if known_epoch < follower_epoch:
            self._former_epochs[follower] = known_epoch
        self._known_epochs[follower] = follower_epoch
        role.fetch_ends[follower] = end_offset
        role.follower_epochs[follower] = follower_epoch
        if end_offset >= role.log.end_offset:
            role.caught_up_us[follower] = now_us
        self._acknowledge(role)
        if (
            role.pending is None
            and follower not in role.isr
            and end_offset >= role.log.high_watermark
            and end_offset >= role.start_offset
            and follower in role.replicas
            and self._may_join(follower, follower_epoch)
        ):
            self._propose(role, (*role.isr, follower))
            self._counts["isr_expansions_proposed"] += 1

    def _may_join(self, follower: int, follower_epoch: int) -> bool:
        """KIP-841, KIP-903: as far as this broker knows. Leaders before them do not look."""
        if self._mix.leaders_are_hasty:
            return True
        registration = self._image.image.cluster.broker(follower)
        return registration is not None and registration.active and registration.epoch == follower_epoch

    def _shrink(self, role: LeaderRole, now_us: int) -> None:
        if role.pending is not None:
            return
        oldest_us = now_us - self._mix.replica_lag_max_us
        kept = tuple(
            replica
            for replica in role.isr
            if replica == self.broker_id or role.caught_up_us.get(replica, 0) >= oldest_us
        )
        if len(kept) < len(role.isr) and self.broker_id in kept:
            self._propose(role, kept)
            self._counts["isr_shrinks_proposed"] += 1

    def _propose(self, role: LeaderRole, isr: tuple[int, ...]) -> None:
        epochs = role.follower_epochs
        if self._mix.leaders_are_hasty and self._rng.random() < FORMER_EPOCHS_SHARE:
            epochs = epochs | self._former_epochs
        change = IsrChange(
            key=role.key,
            leader_epoch=role.leader_epoch,
            partition_epoch=role.partition_epoch,
            isr=isr,
            broker_epochs=tuple(
                self.broker_epoch if replica == self.broker_id else epochs.get(replica, -1) for replica in isr
            ),
        )
        role.pending = change
        self._isr_changes.submit(change)

    def isr_accepted(self, change: IsrChange, answer: AlteredPartition) -> None:
        """Adopt the answered state immediately, as Kafka's leaders do: it is committed."""
        role = self.leaders.get(change.key)
        if role is None or role.pending is not change or answer.leader_epoch != role.leader_epoch:
            return
        if answer.partition_epoch < role.partition_epoch:
            return
        grown, shrunk = len(answer.isr) > len(role.isr), len(answer.isr) < len(role.isr)
        self._counts["isr_expanded"] += grown
        self._counts["isr_shrunk"] += shrunk
        role.pending = None
        role.partition_epoch = answer.partition_epoch
        role.isr = tuple(answer.isr)
        role.recovery_state = answer.leader_recovery_state

    def isr_refused(self, change: IsrChange) -> None:
        """A proposed member is not eligible."""
        role = self.leaders.get(change.key)
        if role is not None and role.pending is change:
            role.pending = None

    def lose_tails(self) -> None:
        """The processes ended without a clean shutdown: what was not forced to the disk is gone (KIP-966)."""
        for key in self._data.replicas_of(self.broker_id):
            log = self._data.log(key, self.broker_id)
            lost = self._rng.randint(0, 3 * RECORDS_PER_ROUND_MAX)
            if lost and log.end_offset:
                log.truncate(max(0, log.end_offset - lost))
                self._counts["log_tails_lost"] += 1
