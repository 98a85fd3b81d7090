"""Three controllers with static voters, on disks that are fast, and their images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.image_records import image_lines
from tests.support.simulator.checks.checks import Checks
from tests.support.simulator.checks.recovery_checks import read_log
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.watching import PlannedEnd

NODE_IDS = (3000, 3001, 3002)


@contextmanager
def started_cluster(seed: int, checks: Callable[[ControllerConfig], Checks] = Checks) -> Iterator[Cluster]:
    """Three controllers that have just been formatted and started."""
    cluster = Cluster(seed, NODE_IDS, dynamic=False, checks=checks)
    with cluster.files.attach():
        cluster.start()
        yield cluster


def end_between_effects(process: ControllerProcess, effects_left: int, *, before: bool) -> None:
    """The power fails around the last of so many effects; nothing if the process is down."""
    if not process.is_running:
        return

    def end() -> None:
        process.watched.planned_end = None
        process.lose_power()

    process.watched.planned_end = PlannedEnd(effects_left, None, before=before, end=end)


def image_of_log(process: ControllerProcess, end_offset: int) -> list[str]:
    """The image built from the process' own log alone, which begins at offset 0."""
    image = MetadataImage()
    image.journal.enabled = False
    assert process.partition.log.start_offset == 0
    for batch in read_batches(read_log(process.partition.log)):
        if not batch.header.is_control and batch.header.last_offset < end_offset:
            for record in batch.records:
                replay(image, decode_metadata_record(record.value or b"").record, record.offset)
    return image_lines(image)


def check_images(cluster: Cluster) -> None:
    """The image of every running process, with what it has not committed yet, matches its own log."""
    for process in cluster.running():
        controller = process.controller
        image = image_lines(controller.image)
        assert image == image_of_log(process, controller.next_replay_offset), process.node_id
