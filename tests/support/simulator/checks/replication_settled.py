"""Once all faults have ended, brokers and partitions come to rest: liveness of the committed metadata."""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from tests.support.simulator.brokers.brokers import ModelBroker


def can_run(broker: ModelBroker, image: MetadataImage) -> bool:
    """Whether the broker's release knows all finalized levels."""
    levels = image.features.finalized | {features.METADATA_VERSION: image.features.metadata_version}
    return all(broker.disk.profile.has_level(feature, level) for feature, level in sorted(levels.items()))


def why_not_settled(
    brokers: Sequence[ModelBroker], image: MetadataImage, *, elr_has_changed: bool = False
) -> str | None:
    """What has not happened yet, None if nothing is missing: brokers first, then partitions.

    EventuallyUnfenced; EventuallyReassignmentCompletes; EventuallyInSync: a partition has a leader, and all
    replicas in its ISR. A broker whose release cannot run stays away, and what needs it waits for it.
    `elr_has_changed`: eligible.leader.replicas.version or min.insync.replicas was not the same all the time.
    """
    absent = {broker.broker_id for broker in brokers if not can_run(broker, image)}
    for broker in brokers:
        registration = image.cluster.broker(broker.broker_id)
        if broker.broker_id in absent:
            continue
        if not broker.is_running:
            return f"EventuallyUnfenced: broker {broker.broker_id} is not running"
        if registration is None or not registration.active:
            return f"EventuallyUnfenced: broker {broker.broker_id} is not active: {registration!r}"
    for topic in image.topics.topics.values():
        for index, partition in topic.partitions.items():
            if needs_an_operator(partition, elr_has_changed=elr_has_changed):
                continue
            if partition.reassigning and absent.isdisjoint(partition.replicas):
                return f"EventuallyReassignmentCompletes: {topic.name}-{index} {partition!r}"
            if not is_in_sync(partition, absent):
                return f"EventuallyInSync: {topic.name}-{index} {partition!r}"
    return None


def is_in_sync(partition: PartitionRegistration, absent: set[int]) -> bool:
    """As far as it can be without the brokers that are `absent`: who has all data may be one of them."""
    if partition.leader == NO_LEADER:
        eligible = {*partition.isr, *partition.elr} or set(partition.last_known_elr)
        return bool(eligible) and eligible <= absent
    return absent.union(partition.isr).issuperset(partition.replicas)


def needs_an_operator(partition: PartitionRegistration, *, elr_has_changed: bool) -> bool:
    """States that Kafka's controller does not leave by itself either.

    A replica that is to be added and to be removed: a reassignment was replaced by one that adds nothing, and
    the list of added replicas stays. An empty ISR after ELR was switched on or off, or cleared: the last
    leader is not known, or may not be elected.
    """
    if any(replica in partition.removing_replicas for replica in partition.adding_replicas):
        return True
    return elr_has_changed and partition.leader == NO_LEADER and not partition.isr
