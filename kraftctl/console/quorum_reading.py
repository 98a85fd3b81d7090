"""What controllers have said in the last round: the quorum by its leader, and statuses of controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftctl.console.node_status import NodeStatus
from kraftctl.explain.evidence import BrokerContact, LeaderView, NoLeaderView


@dataclass(frozen=True)
class QuorumReading:
    """One round. `problem` is why the leader was not asked, as without the right to describe it."""

    view: LeaderView | None = None
    no_leader: NoLeaderView | None = None
    problem: str = ""
    addresses: Mapping[int, str] = field(default_factory=dict)
    """The address of each voter."""
    statuses: tuple[NodeStatus, ...] = ()

    @property
    def contacts(self) -> dict[int, BrokerContact]:
        """The contacts of brokers, as the active controller has them."""
        active = self._active
        return {} if active is None else dict(active.contacts)

    @property
    def left_out_contacts(self) -> int:
        """The number of brokers that the status of the active controller leaves out."""
        active = self._active
        return 0 if active is None else active.left_out_contacts

    @property
    def _active(self) -> NodeStatus | None:
        """The status of the leader, in its epoch: an address may be that of another cluster."""
        view = self.view
        if view is None:
            return None
        found = (
            each
            for each in self.statuses
            if each.is_active and each.node_id == view.leader_id and each.epoch in (None, view.leader_epoch)
        )
        return next(found, None)


@dataclass(frozen=True)
class LogReading:
    """How far the log is read. While `is_reading_snapshot`, nothing else is known."""

    is_reading_snapshot: bool = True
    records_count: int = 0
    behind: int = 0
    """Committed records that are not read yet."""
    problem: str = ""
