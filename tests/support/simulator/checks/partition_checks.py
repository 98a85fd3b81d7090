"""The invariants of partitions, brokers and features, checked with each batch that becomes committed.

The batches are replayed into the reference, record by record, so nothing here trusts the image of a
controller, nor how it replays. Those are compared with it now and then, and so are snapshots.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.raft.effects import AppendBatch
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.checks import topic_settings
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.leaving import NOTHING_LEAVES, Leaving, leaving_of
from tests.support.simulator.checks.log_history import Batch, LogHistory, ReplicaLog
from tests.support.simulator.checks.partition_rules import (
    check_change,
    check_leader_change,
    check_min_isr,
    check_new_isr,
    check_partition,
    check_unclean,
    min_isr_in_batch,
)
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.checks.reference_image import ReferenceImage
from tests.support.simulator.reference.refused_record import RefusedRecordError
from tests.support.simulator.reference.rows import (
    State,
    broker_of,
    brokers_of,
    elr_is_enabled,
    partition_of,
    rows_of,
)
from tests.support.simulator.reference.values import Levels, Partition

UNSUPPORTED = Levels(0, 0)
KRAFT_VERSION = "kraft.version"

PartitionKey = tuple[Uuid, int]


class PartitionChecks:
    """`leaders` has the broker that the log names for each (topic id, partition, leader epoch)."""

    def __init__(self, config: ControllerConfig) -> None:
        self.images = ReferenceImage()
        self.reference = self.images.reference
        self.leaders: dict[tuple[Uuid, int, int], int] = {}
        self.may_ask_for_unclean = True
        """Whether an administrator may ask for an unclean election: the log does not say why it was held."""
        self.may_join_appends = False
        """Whether a batch may have the records of several appends, as in the logs of Kafka's controllers."""
        self.sees_controllers = False
        """Whether `appending` is called: a log does not say whom its controller is taking out of ISRs."""
        self._config = config
        self._batch_base = 0
        self._leaving: dict[tuple[int, int], Leaving] = {}
        """By base offset and epoch of batches, what their controller was taking out of ISRs."""
        self._broker_epochs: dict[int, int] = {}
        self._changed: dict[PartitionKey, Partition | None] = {}
        """Partitions of the batch in progress, as they were before it; None: new."""
        self._changed_brokers: dict[int, bool] = {}
        """Brokers of the batch in progress, and whether they were unfenced before it."""
        self._by_type: dict[type, Callable[[Message, int], None]] = {
            PartitionChangeRecord: self._partition_change,
            PartitionRecord: self._partition,
            RegisterBrokerRecord: self._register_broker,
            BrokerRegistrationChangeRecord: self._change_broker,
            UnregisterBrokerRecord: self._unregister_broker,
            FeatureLevelRecord: self._feature_level,
        }

    def appending(self, process: ProcessView, effect: AppendBatch) -> None:
        """Its leader appends a batch, or a follower what it has fetched."""
        leaving = leaving_of(process.controller)
        if leaving != NOTHING_LEAVES:
            self._leaving[effect.base_offset, effect.epoch] = leaving

    def committed(self, batch: Batch) -> None:
        """The next committed batch: one append, unless that was too large for one."""
        self._batch_base = offset = batch.base_offset
        for record in batch.messages:
            check = self._by_type.get(type(record))
            if check is None:
                self._replay(record, offset)
            else:
                check(record, offset)
            offset += 1
        self.reference.end_offset = batch.end
        if self._changed:
            self._check_partitions(self._leaving.pop((batch.base_offset, batch.epoch), NOTHING_LEAVES))
        if self._changed_brokers:
            self._check_brokers()

    @property
    def state(self) -> State:
        """What is committed."""
        return self.reference.now

    def _replay(self, record: Message, offset: int) -> None:
        try:
            self.reference.replay(record, offset)
        except RefusedRecordError as error:
            broken("NoIllegalState", f"the record at offset {offset} does not fit: {error}")

    # Partitions.

    def _partition_change(self, record: Message, offset: int) -> None:
        assert isinstance(record, PartitionChangeRecord)
        key = (record.topic_id, record.partition_id)
        before = partition_of(self.state, *key)
        self._replay(record, offset)
        after = partition_of(self.state, *key)
        assert before is not None
        assert after is not None
        name = f"{record.topic_id.hex()}-{record.partition_id} at offset {offset}"
        check_change(name, before, after, elr_enabled=elr_is_enabled(self.state))
        self._changed.setdefault(key, before)
        if after.leader_epoch != before.leader_epoch:
            self.leaders[record.topic_id, record.partition_id, after.leader_epoch] = after.leader

    def _partition(self, record: Message, offset: int) -> None:
        assert isinstance(record, PartitionRecord)
        key = (record.topic_id, record.partition_id)
        before = partition_of(self.state, *key)
        if before is not None:
            broken("PartitionEpochOnlyRises", f"offset {offset} creates {before!r} again")
        self._replay(record, offset)
        self._changed.setdefault(key, None)
        self.leaders[record.topic_id, record.partition_id, record.leader_epoch] = record.leader

    def _check_partitions(self, leaving: Leaving) -> None:
        changed, self._changed = self._changed, {}
        state = self.state
        brokers = brokers_of(state)
        for key, before in changed.items():
            topic = state.get(("topic", key[0]))
            partition = partition_of(state, *key)
            if topic is not None and partition is not None:
                name = f"{topic}-{key[1]} at offset {self._batch_base}"
                elr_enabled = elr_is_enabled(state)
                check_partition(brokers, name, before, partition, elr_enabled=elr_enabled)
                if self.sees_controllers:
                    check_leader_change(brokers, name, before, partition, leaving)
                if elr_enabled and partition.elr:
                    min_isr = self._min_isr(key[0], topic, changed.get((key[0], 0)))
                    check_min_isr(name, before, partition, min_isr)
                if before is not None and not self._may_be_unclean(topic):
                    check_unclean(name, before, partition)
                if before is not None and before.isr != partition.isr:
                    check_new_isr(brokers, name, before, partition, elr_enabled=elr_enabled)

    def _min_isr(self, topic_id: Uuid, topic: str, first: Partition | None) -> int:
        """The replicas of partition 0 count for the whole topic."""
        wanted = topic_settings.min_isr(self.state, self._config, topic)
        present = partition_of(self.state, topic_id, 0)
        return min_isr_in_batch(wanted, 0 if present is None else len(present.replicas), first)

    def _may_be_unclean(self, topic: str) -> bool:
        return self.may_ask_for_unclean or topic_settings.unclean_election_is_enabled(
            self.state, self._config, topic
        )

    # Brokers.

    def _note_broker(self, broker_id: int) -> None:
        known = broker_of(self.state, broker_id)
        self._changed_brokers.setdefault(broker_id, known is not None and not known.fenced)

    def _register_broker(self, record: Message, offset: int) -> None:
        """KAFKA-15213: the epoch is the offset of the first record of the append."""
        assert isinstance(record, RegisterBrokerRecord)
        self._note_broker(record.broker_id)
        former = broker_of(self.state, record.broker_id)
        same = former is not None and former.incarnation_id == record.incarnation_id
        expected = former.epoch if former is not None and same else self._batch_base
        if self.may_join_appends and not same and expected <= record.broker_epoch <= offset:
            expected = record.broker_epoch
        known = self._broker_epochs.get(record.broker_id, -1)
        if record.broker_epoch != expected or (not same and expected <= known):
            broken(
                "BrokerEpochOnlyRises",
                f"broker {record.broker_id} gets epoch {record.broker_epoch} at {offset}, after {known}",
            )
        self._broker_epochs[record.broker_id] = record.broker_epoch
        self._replay(record, offset)
        registered = broker_of(self.state, record.broker_id)
        assert registered is not None
        for (_, name), level in sorted(rows_of(self.state, "feature")):
            _check_level(f"broker {record.broker_id}", offset, registered.supported_features, name, level)

    def _change_broker(self, record: Message, offset: int) -> None:
        assert isinstance(record, BrokerRegistrationChangeRecord)
        self._note_broker(record.broker_id)
        self._replay(record, offset)

    def _unregister_broker(self, record: Message, offset: int) -> None:
        assert isinstance(record, UnregisterBrokerRecord)
        self._note_broker(record.broker_id)
        self._replay(record, offset)

    def _check_brokers(self) -> None:
        changed, self._changed_brokers = self._changed_brokers, {}
        for broker_id, was_unfenced in changed.items():
            registration = broker_of(self.state, broker_id)
            if registration is None or registration.fenced:
                self._check_gone(broker_id, was_unfenced)

    def _check_gone(self, broker_id: int, was_unfenced: bool) -> None:
        """A broker that shuts down is only marked by then: it leaves its partitions in several appends."""
        name = f"broker {broker_id}, fenced or unregistered at offset {self._batch_base},"
        newly = was_unfenced and elr_is_enabled(self.state)
        for (_, topic_id, index), partition in rows_of(self.state, "partition"):
            if partition.leader == broker_id:
                broken("ValidControllerState", f"{name} leads partitions")
            if broker_id in partition.isr and (newly or len(partition.isr) > 1):
                topic = self.state["topic", topic_id]
                broken("ValidControllerState", f"{name} is in the ISR of {topic}-{index}")

    # Features.

    def _feature_level(self, record: Message, offset: int) -> None:
        assert isinstance(record, FeatureLevelRecord)
        self._replay(record, offset)
        if record.name == KRAFT_VERSION:
            return
        for kind in ("broker", "controller"):
            for (_, node_id), node in sorted(rows_of(self.state, kind)):
                supported = node.supported_features
                _check_level(f"{kind} {node_id}", offset, supported, record.name, record.feature_level)

    # Images and snapshots.

    def check_image(self, process: ProcessView, log: ReplicaLog, history: LogHistory) -> None:
        """The whole image of `process` is what its log says up to where it has replayed it.

        What the journal of a leader says is committed is what the committed log says.
        """
        controller = process.controller
        end_offset = controller.next_replay_offset
        who = f"node {process.node_id} at offset {end_offset}"
        found = ""
        if end_offset > self.reference.end_offset and not controller.active:
            found = f"it is ahead of what is committed, {self.reference.end_offset}"
        elif controller.active and not _is_committed(log, history, min(end_offset, history.committed_end)):
            pass  # another leader has been elected, and has committed other records
        elif end_offset > self.reference.end_offset:
            found = self.images.why_leader_differs(controller.image, self._uncommitted(log, end_offset))
        else:
            found = self.images.why_image_differs(controller.image, end_offset)
        high_watermark = process.raft.high_watermark
        if not found and controller.active and controller.last_stable_offset + 1 == high_watermark:
            who = f"node {process.node_id}, as of offset {high_watermark}"
            found = self.images.why_view_differs(controller.image, high_watermark)
        if found:
            broken("AllCommittedImagesAgree", f"{who}: {found}")

    def _uncommitted(self, log: ReplicaLog, end_offset: int) -> list[tuple[int, Message]]:
        """What the log of a leader has after everything committed."""
        start = self.reference.end_offset
        return [
            (offset, record)
            for batch in log.batches
            if start <= batch.base_offset < end_offset
            for offset, record in enumerate(batch.messages, batch.base_offset)
        ]

    def check_snapshot(self, who: str, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """It has what the log before its end says."""
        try:
            found = self.images.why_snapshot_differs(data, snapshot_id.offset)
        except RefusedRecordError as error:
            found = str(error)
        if found:
            broken("SnapshotEqualsLog", f"{who}, {snapshot_id}: {found}")


def _is_committed(log: ReplicaLog, history: LogHistory, end_offset: int) -> bool:
    """Whether this log has what is committed, up to this offset."""
    count = history.count_before(end_offset)
    if not count:
        return count == 0
    return log.holds(history.committed[count - 1])


def _check_level(node: str, offset: int, supported: dict[str, Levels], feature: str, level: int) -> None:
    if level != 0 and not supported.get(feature, UNSUPPORTED).contains(level):
        broken("FeaturesAreSupported", f"{feature} {level} at offset {offset}: {node} has {supported}")
