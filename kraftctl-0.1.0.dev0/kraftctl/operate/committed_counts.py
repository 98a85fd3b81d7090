"""Counts of committed metadata: the image of an active controller also has other metadata (KAFKA-14457).

They are taken in one turn and used once everything that the image had then is committed.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl.controller.quorum_controller import QuorumController

FENCED, IN_CONTROLLED_SHUTDOWN, ACTIVE = 10, 20, 30
"""The numbers of Kafka's BrokerRegistrationState."""


@dataclass(frozen=True)
class Counts:
    """Counts of an image up to `end_offset`, exclusive; `epoch` is that of an active controller."""

    epoch: int
    end_offset: int
    topics: int
    partitions: int
    leaderless: int
    imbalanced: int
    reassigning: int
    under_min_isr: int
    recovering: int
    unclean_elections: int
    elections_from_elr: int
    metadata_version: int
    levels: tuple[tuple[str, int], ...]
    controller_ids: tuple[int, ...]
    broker_states: tuple[tuple[int, int], ...]


class CommittedCounts:
    """The newest counts of which everything is committed, and those that wait for it."""

    def __init__(self) -> None:
        self.committed: Counts | None = None
        self._waiting: Counts | None = None

    def look(self, controller: QuorumController, high_watermark: int) -> bool:
        """Takes counts, on the loop. Returns whether those of now, or of the look before, are committed."""
        if not controller.state.metadata_loaded:
            return True  # they are partial; none are served until then
        waiting, epoch = self._waiting, controller.state.claim_epoch
        if waiting is not None and waiting.epoch == epoch and waiting.end_offset <= high_watermark:
            self.committed, self._waiting = waiting, None
            return True
        if waiting is not None and waiting.epoch == epoch:
            return False
        self._waiting = None
        counts = _counts(controller)
        if controller.active and counts.end_offset > high_watermark:
            self._waiting = counts
            return False
        self.committed = counts
        return True


def _counts(controller: QuorumController) -> Counts:
    image = controller.image
    topics = image.topics
    return Counts(
        epoch=controller.state.claim_epoch,
        end_offset=controller.next_replay_offset,
        topics=len(topics.topics),
        partitions=topics.partition_count,
        leaderless=topics.leaderless_count,
        imbalanced=topics.imbalanced_count,
        reassigning=topics.reassigning_count,
        under_min_isr=topics.short_isrs.under_min_isr_count(
            controller.state.topic_settings.inherited_min_isr()
        ),
        recovering=topics.recovering_count,
        unclean_elections=topics.elections.unclean_count,
        elections_from_elr=topics.elections.from_elr_count,
        metadata_version=image.features.metadata_version,
        levels=tuple(sorted(image.features.finalized.items())),
        controller_ids=tuple(sorted(image.cluster.controllers)),
        broker_states=tuple(
            (
                broker_id,
                FENCED if each.fenced else IN_CONTROLLED_SHUTDOWN if each.in_controlled_shutdown else ACTIVE,
            )
            for broker_id, each in sorted(image.cluster.brokers.items())
        ),
    )
