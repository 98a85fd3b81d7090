"""A single controller without faults of its own, for the models of its clients."""

from __future__ import annotations

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from tests.support.active_controller import NODE_ID
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.wire import LinkFaults


class OneController(Cluster):
    """`loss` is the share of calls whose request or answer is lost; `snapshot_bytes` are between two."""

    may_duplicate = False

    def __init__(
        self,
        seed: int,
        *,
        loss: float = 0.0,
        snapshot_bytes: int = 1 << 30,
        metadata_version: int = features.DEFAULT_METADATA_VERSION,
    ) -> None:
        super().__init__(
            seed,
            [NODE_ID],
            dynamic=False,
            properties={
                "metadata.log.max.record.bytes.between.snapshots": str(snapshot_bytes),
                "broker.session.timeout.ms": "2000",
            },
            metadata_version=metadata_version,
        )
        self.wire.faults = LinkFaults(loss=loss / 2)
        with self.files.attach():
            self.start()

    @property
    def image(self) -> MetadataImage:
        return self.processes[NODE_ID].controller.image

    def run_for(self, duration_ms: int) -> None:
        with self.files.attach():
            super().run_for(duration_ms)
