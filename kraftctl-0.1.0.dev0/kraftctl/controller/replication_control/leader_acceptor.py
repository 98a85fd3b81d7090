"""Decides which brokers may lead a partition right now (KIP-841, KIP-858)."""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.image.cluster_image import ClusterImage
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.uuids import Uuid


class LeaderAcceptor:
    """Accepts active brokers whose log directory for the partition is online, unless they are `leaving`.

    While a transition is being turned into records the image still shows the old state. So the
    broker that leaves (`removed`), or came back unclean (`unclean`), is refused, and the one
    that is being unfenced (`added`) is accepted, unless its directory is one of those that go `offline` in
    the same transition.
    """

    def __init__(
        self,
        cluster: ClusterImage,
        leaving: LeavingBrokers,
        *,
        removed: int = NO_LEADER,
        added: int = NO_LEADER,
        unclean: int = NO_LEADER,
        offline: Sequence[Uuid] = (),
    ) -> None:
        self._cluster = cluster
        self._leaving = leaving
        self._removed = removed
        self._added = added
        self._unclean = unclean
        self._offline = offline

    def accepts(self, partition: PartitionRegistration, broker_id: int) -> bool:
        """Returns whether `broker_id`, one of the replicas, could serve as leader of `partition`."""
        if broker_id == self._removed or broker_id == self._unclean:
            return False
        registration = self._cluster.brokers.get(broker_id)
        if registration is None:
            return False
        if broker_id != self._added and not is_staying(registration, self._leaving):
            return False
        directory = partition.directory(broker_id)
        if directory is None or directory in self._offline or self._leaving.has_directory(directory):
            return False
        return registration.has_online_directory(directory)


def is_staying(registration: BrokerRegistration, leaving: LeavingBrokers) -> bool:
    """Returns whether it is active, and will not be fenced or unregistered."""
    return registration.active and not leaving.has(registration.id, registration.epoch)
