"""Elects leaders of many partitions, slice by slice: after an unfencing, at activation, and by timers.

Each visits once what is in an index at its beginning. A partition that loses its leader later is not found,
and need not be: whatever removes its leader elects another one if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.controller.replication_control.broker_transitions import incarnation_of
from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.replication_control.partition_walk import (
    ImbalancedWalk,
    LeaderlessWalk,
    PartitionWalk,
    UncleanWalk,
    in_order,
)
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.slice_budget import SliceBudget
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata.broker_registration_change import unfencing_record
from kraftctl.metadata.partition_registration import NO_LEADER
from kraftctl_protocol.uuids import Uuid


class LeaderElections(SlicedWork):
    """The elections in the partitions of `walk`."""

    def __init__(
        self, state: ControllerState, name: str, walk: PartitionWalk, *, to_preferred: bool = False
    ) -> None:
        super().__init__(name)
        self._state = state
        self._walk = walk
        self._to_preferred = to_preferred
        self.is_over = False
        self.has_failed = False

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Returns the next slice of elections."""
        state = self._state
        updates = PartitionUpdates(state, to_preferred=self._to_preferred)
        budget = SliceBudget(moment.units)
        self.is_over = self._walk.take(state.image.topics, updates, budget)
        self.spent = budget.spent
        if self.is_over:
            return ControllerResult.of(updates.records)
        return ControllerResult.begun(updates.records, self)

    def failed(self, moment: Moment) -> None:
        self.is_over = True
        self.has_failed = True


def preferred_elections(state: ControllerState) -> LeaderElections:
    """Returns the elections of the rebalance timer (auto.leader.rebalance.enable)."""
    topic_ids = in_order(state.image.topics.imbalanced_counts)
    acceptor = LeaderAcceptor(state.image.cluster, state.heartbeats.leaving)
    walk = ImbalancedWalk(topic_ids, acceptor)
    return LeaderElections(state, "elect preferred leaders", walk, to_preferred=True)


def unclean_elections(state: ControllerState) -> LeaderElections:
    """Returns the elections of the timer for leaderless partitions with unclean elections (KIP-704)."""
    walk = UncleanWalk(in_order(state.image.topics.leaderless_counts), state.image)
    return LeaderElections(state, "elect unclean leaders", walk)


def leaderless_elections(state: ControllerState) -> LeaderElections:
    """Returns the elections in all partitions without leader that can have one, as a former controller
    left them.
    """
    walk = LeaderlessWalk(in_order(state.image.topics.leaderless_counts), state.image)
    return LeaderElections(state, "elect leaders where there are none", walk)


class BrokerUnfencing(SlicedWork):
    """Unfences the broker, then lets partitions without leader elect it.

    Those in `offline_directories`, which it reports with the same heartbeat, do not. Kafka's controller
    elects it there, and later reports of these directories change nothing. After a failover the next
    controller makes `leaderless_elections`.
    """

    def __init__(
        self,
        state: ControllerState,
        broker_id: int,
        broker_epoch: int,
        offline_directories: Sequence[Uuid] = (),
    ) -> None:
        super().__init__(f"unfence broker {broker_id} at epoch {broker_epoch}")
        self._state = state
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._offline = offline_directories
        self._walk: PartitionWalk | None = None

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Ends without a record if the broker is fenced again, unregistered or registered again by now."""
        state, broker_id = self._state, self._broker_id
        registration = incarnation_of(state, broker_id, self._broker_epoch)
        is_first = self._walk is None
        if registration is None or (registration.fenced and not is_first):
            self.spent = 0
            return ControllerResult.of([])
        added = broker_id if is_first else NO_LEADER
        updates = PartitionUpdates(state, added=added, offline=self._offline)
        if self._walk is None:
            updates.records.append(unfencing_record(registration))
            topic_ids = in_order(state.image.topics.leaderless_counts)
            self._walk = LeaderlessWalk(topic_ids, state.image, broker_id, self._offline)
        budget = SliceBudget(moment.units)
        is_over = self._walk.take(state.image.topics, updates, budget)
        self.spent = budget.spent
        if is_over:
            return ControllerResult.of(updates.records)
        return ControllerResult.begun(updates.records, self)

    def failed(self, moment: Moment) -> None:
        self._state.heartbeats.leaving.elections_are_due = True
