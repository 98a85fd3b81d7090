"""Random transitions, and what may happen between two of their slices: the invariants hold.

After a failover, which takes back what was not committed and drops all works, the next controller
continues from the log alone: it holds elections where there are none, and brokers and clients ask again.
"""

from __future__ import annotations

import random

import pytest

from kraftctl.controller.cluster_control.unregister_broker import BrokerUnregistration
from kraftctl.controller.replication_control.broker_transitions import BrokerFencing, ControlledShutdown
from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.leader_elections import (
    BrokerUnfencing,
    LeaderElections,
    leaderless_elections,
    preferred_elections,
    unclean_elections,
)
from kraftctl.controller.replication_control.offline_directories import OfflineDirectories
from kraftctl.controller.results.controller_result import SlicedWork
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.state.broker_heartbeat_manager import BrokerHeartbeatManager
from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.effort import seeds
from tests.support.metadata_state import UNLIMITED, MetadataState, directory, partition_record
from tests.support.simulator.checks.partition_rules import check_change, check_partition
from tests.support.transitions import next_slice, registering
from tests.support.wire.alter_partition_requests import ask, request_for

BROKERS = (1, 2, 3, 4)
STEPS = 250


class Life:
    """One controller after another, with works that take turns."""

    def __init__(self, seed: int, *, elr: bool) -> None:
        self.rng = random.Random(f"slices {seed}")
        self.state = MetadataState(elr=elr)
        for broker_id in BROKERS:
            self.state.broker(broker_id, directories=2)
        self.works: list[SlicedWork] = []
        self.topics = 0
        self.failovers = 0
        self.cut = 0
        """How many works had more than one slice."""
        for _ in range(3):
            self.create_topic()
        self.committed_end = self.state.next_offset

    # What happens.

    def step(self) -> None:
        self.rng.choice(
            [self.take_slice] * 12
            + [self.alter_isr] * 6
            + [self.begin] * 3
            + [self.create_topic, self.delete_topic, self.commit, self.fail, self.failover]
        )()
        self.check_brokers()

    def create_topic(self) -> None:
        self.topics += 1
        records = []
        active = [broker for broker in BROKERS if self.state.image.cluster.active(broker)]
        for _ in range(self.rng.randint(1, 8)):
            replicas = self.rng.sample(BROKERS, self.rng.randint(1, 3))
            leaving = self.state.controller.heartbeats.leaving
            isr = [r for r in replicas if r in active and not leaving.has(r, self.epoch(r))]
            if isr:
                directories = [directory(replica, self.rng.randrange(2)) for replica in replicas]
                records.append(partition_record(replicas, isr, directories=directories))
        name = f"t{self.topics}"
        self.state.topic(name, *records, number=self.topics)
        self.state.config(
            TOPIC,
            name,
            min__insync__replicas=str(self.rng.randint(1, 3)),
            unclean__leader__election__enable=str(self.rng.random() < 0.2).lower(),
        )

    def delete_topic(self) -> None:
        topics = sorted(self.state.image.topics.topics)
        if len(topics) > 2:
            self.state.append(RemoveTopicRecord(topic_id=self.rng.choice(topics)))

    def alter_isr(self) -> None:
        """As a leader asks that has not heard yet who is leaving."""
        topic_id, index, partition = self.rng.choice(self.partitions() or [(b"", 0, None)])
        if partition is None or partition.leader == NO_LEADER:
            return
        leader = int(partition.leader)
        others = [replica for replica in partition.replicas if replica != leader]
        request = request_for(
            3,
            [leader, *self.rng.sample(others, self.rng.randint(0, len(others)))],
            sender=leader,
            leader_epoch=int(partition.leader_epoch),
            partition_epoch=int(partition.partition_epoch),
            recovery_state=0,
            index=index,
        )
        request.broker_epoch = self.epoch(leader)
        request.topics[0].topic_id = topic_id
        self.append(ask(self.state, 3, request).records)

    def begin(self) -> None:
        broker_id = self.rng.choice(BROKERS)
        registration = self.state.image.cluster.broker(broker_id)
        clean = self.rng.random() < 0.5
        controller = self.state.controller
        if registration is None:
            self.works.append(registering(controller, broker_id, clean_shutdown=clean))
            return
        epoch = registration.epoch
        kinds: list[SlicedWork] = [
            BrokerFencing(controller, broker_id, epoch),
            registering(controller, broker_id, clean_shutdown=clean),
            BrokerUnregistration(controller, broker_id, epoch),
            preferred_elections(controller),
            unclean_elections(controller),
        ]
        if registration.fenced and not registration.in_controlled_shutdown:
            kinds += [BrokerUnfencing(controller, broker_id, epoch)] * 8
        elif not registration.fenced:
            kinds += [ControlledShutdown(controller, broker_id, epoch)] * 2
            if len(registration.directories) == 2:
                # A broker that loses its last directory stops, and the log keeps the name of the directory.
                kinds += [OfflineDirectories(controller, broker_id, epoch, registration.directories[:1])]
        self.works.append(self.rng.choice(kinds))

    def take_slice(self) -> None:
        if not self.works:
            return
        work = self.works.pop(0)
        units = self.rng.choice((1, 1, 2, 3, 5, UNLIMITED))
        result = work.next_slice(Moment(0, 0, self.state.next_offset, units))
        if result.soft_change is not None:
            result.soft_change.make()
        self.append(result.records)
        if result.rest is not None:
            self.cut += 1
            self.works.append(result.rest)

    def fail(self) -> None:
        """A slice of a work fails: nothing of it is written."""
        if self.works and self.rng.random() < 0.3:
            work = self.works.pop(0)
            work.failed(Moment(0, 0, self.state.next_offset))
            if isinstance(work, LeaderElections):
                # As the timer does.
                self.works.append(leaderless_elections(self.state.controller))

    def commit(self) -> None:
        self.committed_end = self.state.next_offset
        self.state.image.journal.commit_to(self.committed_end)

    def failover(self) -> None:
        end = self.rng.randint(self.committed_end, self.state.next_offset)
        self.state.image.journal.rollback_to(end)
        self.state.next_offset = end
        self.works = []
        self.state.controller.heartbeats = BrokerHeartbeatManager(9_000)
        self.failovers += 1
        self.works.append(leaderless_elections(self.state.controller))

    # What must hold.

    def append(self, records: list[RecordAndVersion]) -> None:
        before = {(topic_id, index): partition for topic_id, index, partition in self.partitions()}
        self.state.append_all(records)
        for topic_id, index, partition in self.partitions():
            old = before.get((topic_id, index))
            if partition is old:
                continue
            name = f"{topic_id.hex()}-{index}"
            image = self.state.image
            elr_enabled = image.features.elr_enabled
            check_partition(image.cluster.brokers, name, old, partition, elr_enabled=elr_enabled)
            if old is not None:
                check_change(name, old, partition, elr_enabled=elr_enabled)

    def check_brokers(self) -> None:
        """No broker that is fenced or unregistered has anything to leave."""
        image = self.state.image
        for broker_id in image.topics.isr_counts:
            registration = image.cluster.broker(broker_id)
            assert registration is not None, f"broker {broker_id} is gone"
            assert not registration.fenced, f"broker {broker_id} is fenced"

    def settle(self) -> None:
        """All works end. What failed, or was lost, is asked for again."""
        for broker_id, registration in self.state.image.cluster.brokers.items():
            if registration.in_controlled_shutdown and not registration.fenced:
                self.works.append(ControlledShutdown(self.state.controller, broker_id, registration.epoch))
        for _ in range(5_000):
            if not self.works:
                break
            self.take_slice()
        assert not self.works, "works do not end"
        leaving = self.state.controller.heartbeats.leaving
        assert not any(leaving.has(broker_id, self.epoch(broker_id)) for broker_id in BROKERS)
        if leaving.elections_are_due:
            next_slice(self.state, leaderless_elections(self.state.controller), UNLIMITED)
        acceptor = LeaderAcceptor(self.state.image.cluster, LeavingBrokers())
        for topic_id, index, partition in self.partitions():
            if partition.leader == NO_LEADER:
                electable = [r for r in (*partition.isr, *partition.elr) if acceptor.accepts(partition, r)]
                in_sync = [replica for replica in electable if replica in partition.isr or not partition.isr]
                assert not in_sync, f"{topic_id.hex()}-{index} could have a leader: {partition!r}"
            else:
                leader = self.state.image.cluster.brokers[int(partition.leader)]
                assert leader.active, f"{topic_id.hex()}-{index} is led by {leader!r}"
        self.check_brokers()

    def partitions(self) -> list[tuple[bytes, int, PartitionRegistration]]:
        return [
            (topic_id, index, partition)
            for topic_id, topic in self.state.image.topics.topics.items()
            for index, partition in topic.partitions.items()
        ]

    def epoch(self, broker_id: int) -> int:
        registration = self.state.image.cluster.broker(broker_id)
        return -1 if registration is None else registration.epoch


@pytest.mark.parametrize("elr", [False, True])
def test_invariants_between_slices(elr: bool) -> None:
    cut = failovers = 0
    chosen = seeds(20)
    for seed in chosen:
        life = Life(seed, elr=elr)
        try:
            for _ in range(STEPS):
                life.step()
            life.settle()
        except Exception as error:
            error.add_note(f"seed {seed}, elr {elr}")
            raise
        cut += life.cut
        failovers += life.failovers
    assert cut > 5 * len(chosen)
    assert failovers > len(chosen)
