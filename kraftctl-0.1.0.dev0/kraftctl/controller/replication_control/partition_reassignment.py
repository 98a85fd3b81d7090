"""KIP-455: the arithmetic of replica lists while a partition is being reassigned."""

from __future__ import annotations

from kraftctl.metadata.partition_registration import PartitionRegistration

Brokers = tuple[int, ...]


class PlannedReassignment:
    """A reassignment at its start: the target first, then what will be removed in the end."""

    def __init__(self, current: Brokers, target: Brokers) -> None:
        self.removing: Brokers = ()
        self.adding: Brokers = ()
        self.replicas: Brokers = target
        if target != current:
            self.removing = tuple(sorted(set(current) - set(target)))
            self.adding = tuple(sorted(set(target) - set(current)))
            self.replicas = (*target, *self.removing)


class CompletedReassignment:
    """The replicas and the ISR after the last step."""

    def __init__(self, replicas: Brokers, isr: Brokers) -> None:
        self.replicas = replicas
        self.isr = isr


def complete_reassignment(
    *, replicas: Brokers, removing: Brokers, adding: Brokers, isr: Brokers
) -> CompletedReassignment | None:
    """The final state if `isr` allows to finish now, else None.

    1. Some replica that stays is in sync.
    2. All added replicas are in sync.
    3. When the replication factor shrinks, all replicas that stay are in sync; otherwise the ISR
       could shrink without need (KAFKA-14190).
    """
    if not removing and not adding:
        return None
    kept_isr = tuple(replica for replica in isr if replica not in removing)
    kept_replicas = tuple(replica for replica in replicas if replica not in removing)
    if removing and (not kept_isr or not kept_replicas):
        return None
    if not _contains_all(kept_isr, adding):
        return None
    if len(adding) < len(removing) and not _contains_all(kept_isr, kept_replicas):
        return None
    return CompletedReassignment(kept_replicas, kept_isr)


class RevertedReassignment:
    """The replicas and the ISR after a reassignment is cancelled.

    `unclean`: every ISR member was being added, so the first replica that stays takes over without being
    known to be in sync. Only an unclean election allows that.
    """

    def __init__(self, partition: PartitionRegistration) -> None:
        adding = partition.adding_replicas
        self.replicas: Brokers = tuple(r for r in partition.replicas if r not in adding)
        self.isr: Brokers = tuple(r for r in partition.isr if r not in adding)
        self.unclean = False
        if not self.isr:
            assert self.replicas, "a reassignment cannot have started from no replicas"
            self.isr = (self.replicas[0],)
            self.unclean = True


def target_replication_factor(partition: PartitionRegistration) -> int:
    """Returns the replicas that the partition has, or will have after its reassignment."""
    if not partition.reassigning:
        return len(partition.replicas)
    members = set(partition.replicas) | set(partition.adding_replicas)
    return len(members - set(partition.removing_replicas))


def _contains_all(container: Brokers, members: Brokers) -> bool:
    return all(member in container for member in members)
