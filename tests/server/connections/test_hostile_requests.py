"""Hostile requests to a whole controller, and what they once found. `make soak SOAK=hostile` takes hours."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from kraftctl.metadata import features
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from tests.support.active_controller import CLUSTER_ID
from tests.support.effort import seeds
from tests.support.metadata_state import directory as candidate_directory
from tests.support.simulator.cluster.virtual_time_loop import VirtualTimeLoop
from tests.support.wire.hosted_cluster import PROPERTIES, Population
from tests.support.wire.hosted_controller import HostedController
from tests.support.wire.hostile_round import HostileRound
from tests.support.wire.planted_faults import can_be_planted

REQUESTS = 250

EPOCH_MAX = (1 << 31) - 1

ELECTION_SECONDS = 30.0


@pytest.mark.parametrize("seed", seeds(4))
def test_nothing_that_is_sent_ends_a_controller(seed: int, tmp_path: Path) -> None:
    """Every third is a dynamic quorum, every second has snapshots, every fourth an older metadata.version."""
    hostile = HostileRound(seed, REQUESTS, tmp_path, plant=can_be_planted())
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(hostile.run())
    if not hostile.outcomes["leaderless"]:
        assert hostile.done == REQUESTS
        assert hostile.outcomes["answered"] > REQUESTS / 2
        assert (hostile.outcomes["planted_refused"] > 0) == can_be_planted()


def opened(directory: Path) -> HostedController:
    """On a directory that is formatted if it is new."""
    return HostedController(
        directory,
        random.Random(1),
        dynamic=True,
        metadata_version=features.DEFAULT_METADATA_VERSION,
        properties=PROPERTIES,
    )


def vote_request(epoch: int, end_offset: int) -> VoteRequest:
    """A Vote request of a candidate that does not exist."""
    partition = PartitionData(
        partition_index=0,
        replica_epoch=epoch,
        replica_id=3_001,
        replica_directory_id=candidate_directory(1),
        last_offset_epoch=1,
        last_offset=end_offset,
    )
    topic = TopicData(topic_name="__cluster_metadata", partitions=[partition])
    return VoteRequest(cluster_id=CLUSTER_ID, voter_id=-1, topics=[topic])


@pytest.mark.prevents("last-epoch")
@pytest.mark.parametrize("epochs_left", [0, 1, 2])
def test_the_last_epochs_end_no_node(epochs_left: int, tmp_path: Path) -> None:
    """The candidate may be refused; a node that joins its epoch survives the elections after it."""

    async def life(first: bool) -> None:
        hosted = opened(tmp_path)
        hosted.start()
        population = Population(hosted, random.Random(1))
        if first:
            await population.settle_in()
            epoch = EPOCH_MAX - epochs_left
            await population.call(vote_request(epoch, hosted.end_offset), VoteResponse)
        await asyncio.sleep(ELECTION_SECONDS)
        hosted.check_alive()
        asked = ApiVersionsRequest(client_software_name="a", client_software_version="1")
        assert (await population.call(asked, ApiVersionsResponse)).error_code == 0
        await hosted.stop()

    for first in (True, False, False, False):
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(life(first))
