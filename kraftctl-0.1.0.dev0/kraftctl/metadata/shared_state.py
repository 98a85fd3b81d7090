"""SharedState has what almost all partitions have in common, so that they refer to one object."""

from __future__ import annotations

from mypy_extensions import mypyc_attr, u8

from kraftctl.metadata.broker_directories import BrokerDirectories
from kraftctl_protocol.uuids import Uuid


@mypyc_attr(acyclic=True)
class SharedState:
    """The state is empty unless a reassignment runs, the ELR has members or a leader recovers. It does not
    change.

    `directories` is None when the partition has them packed, as numbers of `broker_directories`.
    """

    def __init__(
        self,
        broker_directories: BrokerDirectories,
        *,
        removing_replicas: tuple[int, ...],
        adding_replicas: tuple[int, ...],
        elr: tuple[int, ...],
        last_known_elr: tuple[int, ...],
        leader_recovery_state: u8,
        directories: tuple[Uuid, ...] | None,
    ) -> None:
        self.broker_directories = broker_directories
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.elr = elr
        self.last_known_elr = last_known_elr
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
