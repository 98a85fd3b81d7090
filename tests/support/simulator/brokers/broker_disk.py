"""What a model broker keeps across its processes."""

from __future__ import annotations

from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.brokers.broker_image import BrokerImage, PartitionKey
from tests.support.simulator.brokers.broker_profiles import BrokerProfile

NO_EPOCH = -1


class BrokerDisk:
    """Its log directories, and its copy of the metadata log: `image` is what a replay of it results in.

    `local_directories` has the log directory in which each replica lies. `lives` counts the processes.
    """

    def __init__(
        self,
        broker_id: int,
        profile: BrokerProfile,
        directories: list[Uuid],
        image: BrokerImage,
        rack: str | None,
    ) -> None:
        self.broker_id = broker_id
        self.profile = profile
        self.directories = directories
        self.image = image
        self.rack = rack
        self.local_directories: dict[PartitionKey, Uuid] = {}
        self.cordoned: list[Uuid] | None = None
        """Log directories that get no new replicas (KIP-1066); None as long as none ever was cordoned."""
        self.lives = 0
        self.last_epoch = NO_EPOCH
        self._clean_shutdown_epoch = NO_EPOCH

    def take_clean_shutdown_epoch(self) -> int:
        """What .kafka_cleanshutdown says, -1 without it. A start deletes it."""
        epoch, self._clean_shutdown_epoch = self._clean_shutdown_epoch, NO_EPOCH
        return epoch

    def write_clean_shutdown(self, epoch: int, offline_directories: list[Uuid]) -> None:
        """Only if it can be written into every log directory does the next start believe it."""
        if not offline_directories:
            self._clean_shutdown_epoch = epoch
