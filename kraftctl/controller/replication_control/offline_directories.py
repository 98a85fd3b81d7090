"""Removes replicas in failed log directories from ISRs, then the directories, slice by slice (KIP-858).

After a failover the broker reports the directories again: it does so with each heartbeat.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.controller.replication_control.broker_transitions import incarnation_of
from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.replication_control.partition_walk import DirectoryWalk, PartitionWalk, in_order
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.slice_budget import SliceBudget
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.leaving_brokers import Departure, DepartureEnds, DirectoriesBegin
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.broker_registration_change import log_dirs_record
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid


class OfflineDirectories(SlicedWork):
    """Searches each partition of a broker once for its `directories`.

    A replica cannot return behind the place of the walk: none in such a directory is elected meanwhile, and
    it does not fetch.
    """

    def __init__(
        self, state: ControllerState, broker_id: int, broker_epoch: int, directories: Sequence[Uuid]
    ) -> None:
        super().__init__(f"take directories of broker {broker_id} at epoch {broker_epoch} out of service")
        self._state = state
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._directories = directories
        self._walk: PartitionWalk | None = None
        self._departure = Departure(state.heartbeats.leaving)

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Returns the next slice, without a record if none of the directories is registered any more."""
        state, broker_id = self._state, self._broker_id
        registration = incarnation_of(state, broker_id, self._broker_epoch)
        known = [] if registration is None else registration.directories
        failed = [directory for directory in known if directory in self._directories]
        if registration is None or not failed:
            self.spent = 0
            return ControllerResult.of([], None, DepartureEnds(self._departure))
        updates = PartitionUpdates(state, removed=broker_id)
        if self._walk is None:
            self._walk = self._begin_walk(failed)
        budget = SliceBudget(moment.units)
        is_over = self._walk.take(state.image.topics, updates, budget)
        self.spent = budget.spent
        if not is_over:
            return ControllerResult.begun(updates.records, self, DirectoriesBegin(self._departure, failed))
        updates.records.append(failed_log_dirs_record(registration, self._directories))
        return ControllerResult.of(updates.records, None, DepartureEnds(self._departure))

    def failed(self, moment: Moment) -> None:
        self._departure.end(stays=False)

    def _begin_walk(self, failed: list[Uuid]) -> PartitionWalk:
        topics, broker_id = self._state.image.topics, self._broker_id
        topic_ids = topics.isr_counts.get(broker_id, {}) | topics.last_member_counts.get(broker_id, {})
        return DirectoryWalk(in_order(topic_ids), broker_id, failed)


def failed_log_dirs_record(registration: BrokerRegistration, failed: Sequence[Uuid]) -> RecordAndVersion:
    """Returns the record that takes `failed` directories out of the registration."""
    left = [directory for directory in registration.directories if directory not in failed]
    return log_dirs_record(registration, left)


def records_for_failed_assignments(
    state: ControllerState,
    broker_id: int,
    topic: TopicImage,
    partition_ids: list[int],
    assignments: list[RecordAndVersion],
) -> list[RecordAndVersion]:
    """Removes a broker from the ISR of replicas that it put into an offline directory.

    `assignments` come before: what they change besides, as the end of a reassignment, is not written again.
    """
    assigned: dict[int, PartitionChangeRecord] = {}
    for each in assignments:
        assert isinstance(each.record, PartitionChangeRecord)
        assigned[each.record.partition_id] = each.record
    updates = PartitionUpdates(state, removed=broker_id)
    updates.begin_topic(topic)
    tuples = state.image.topics.tuples
    for partition_id in partition_ids:
        partition, change = topic.partitions[partition_id], assigned.get(partition_id)
        updates.add(partition_id, partition if change is None else partition.merge(change, tuples))
    return updates.records
