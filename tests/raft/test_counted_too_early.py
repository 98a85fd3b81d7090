"""What a leader must not count for the high watermark: it is not known to be on a disk, or not any more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.raft.events import LogFlushed, SnapshotCreated
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.progress_cases import dynamic
from tests.support.raft_names import directory_id
from tests.support.simulator.cluster.bare_raft import BareNode, Network
from tests.support.wire.raft_requests import fetch

NEW = 5
"""Records that only this leader has, in memory."""


class Leading:
    """A leader of three voters whose disk hangs, with records that are not committed; the others are down."""

    def __init__(self) -> None:
        self.answered: list[Message] = []
        self.network = Network()
        nodes = [BareNode(self.network, node_id, dynamic(1, 2, 3)).start() for node_id in (1, 2, 3)]
        self.network.run_for(8)
        (self.node,) = [node for node in nodes if node.raft.is_leader]
        for node in nodes:
            if node is not self.node:
                node.stop()
        self.followers = [node.node_id for node in nodes if node is not self.node]
        raft = self.node.raft
        self.committed = raft.high_watermark
        assert self.committed == raft.end_offset
        self.node.disk_hangs = True
        now_ms = self.network.time.now_ms
        _, effects = raft.append([b"x"] * NEW, now_ms, 0)
        for effect in effects:
            self.node._carry_out(effect)
        self.end = raft.end_offset
        self.epoch = raft.epoch

    def fetch(self, offset: int, **words: object) -> None:
        """By default of the first follower, which has everything."""
        defaults = {
            "replica": self.followers[0],
            "epoch": self.epoch,
            "last-epoch": self.epoch if offset else 0,
            "wait": 0,
        }
        request, _ = fetch(
            {key: str(value) for key, value in (defaults | words).items()} | {"offset": str(offset)}
        )
        assert isinstance(request, FetchRequest)
        partition = request.topics[0].partitions[0]
        generation = 1 if words.get("directory") == "other" else 0
        replica_id = int(str(defaults["replica"] if "replica" not in words else words["replica"]))
        partition.replica_directory_id = directory_id(replica_id, generation)
        request.cluster_id = self.node.cluster_id
        self.node.receive(request, self.answered.append)

    def flushed(self) -> None:
        self.node.step(LogFlushed(self.end))

    @property
    def high_watermark(self) -> int:
        return self.node.raft.high_watermark


def has_it(leading: Leading) -> None:
    leading.fetch(leading.end)


def another_directory(leading: Leading) -> None:
    leading.fetch(leading.end, directory="other")


def an_observer(leading: Leading) -> None:
    leading.fetch(leading.end, replica=9)


def a_diverging_epoch(leading: Leading) -> None:
    leading.fetch(leading.end, **{"last-epoch": 0})


def beyond_the_end(leading: Leading) -> None:
    leading.fetch(leading.end + 1)


def an_older_epoch(leading: Leading) -> None:
    leading.fetch(leading.end, epoch=leading.epoch - 1, **{"last-epoch": leading.epoch - 1})


def a_later_epoch(leading: Leading) -> None:
    leading.fetch(leading.end, epoch=leading.epoch + 1)


def another_cluster(leading: Leading) -> None:
    leading.node.cluster_id = "another"
    leading.fetch(leading.end)
    leading.node.cluster_id = "x"


def itself(leading: Leading) -> None:
    leading.fetch(leading.end, replica=leading.node.node_id)


def a_part(leading: Leading) -> None:
    leading.fetch(leading.committed)


def wiped(leading: Leading) -> None:
    """It had everything on its disk, and has nothing now."""
    leading.fetch(leading.end)
    leading.fetch(0)


def wiped_where_there_is_a_snapshot(leading: Leading) -> None:
    """The response names the snapshot: nothing that the voter has is compared."""
    epoch = leading.node.raft.epoch_at(leading.committed - 1)
    assert epoch is not None
    leading.node.step(SnapshotCreated(OffsetAndEpoch(leading.committed, epoch), 100))
    leading.fetch(leading.end)
    leading.fetch(0)


def replaced_by_an_older_copy(leading: Leading) -> None:
    """Of another epoch: the response names where that ended."""
    leading.fetch(leading.end)
    leading.fetch(leading.committed, **{"last-epoch": 0})


def cut_back(leading: Leading) -> None:
    leading.fetch(leading.end)
    leading.fetch(leading.committed)


def wiped_twice(leading: Leading) -> None:
    leading.fetch(leading.end)
    leading.fetch(0)
    leading.fetch(leading.end, directory="other")


@pytest.mark.parametrize(
    "fetches",
    [
        another_directory,
        an_observer,
        a_diverging_epoch,
        beyond_the_end,
        an_older_epoch,
        a_later_epoch,
        another_cluster,
        itself,
        a_part,
        wiped,
        wiped_where_there_is_a_snapshot,
        replaced_by_an_older_copy,
        cut_back,
        wiped_twice,
    ],
)
def test_the_leader_alone_commits_nothing(fetches: Callable[[Leading], None]) -> None:
    leading = Leading()
    fetches(leading)
    leading.flushed()
    assert leading.high_watermark == leading.committed


def test_with_a_voter_that_has_everything_it_is_committed() -> None:
    leading = Leading()
    has_it(leading)
    assert leading.high_watermark == leading.committed, "the leader has not flushed it"
    leading.flushed()
    assert leading.high_watermark == leading.end


def test_a_voter_that_was_wiped_counts_again_when_it_has_everything() -> None:
    leading = Leading()
    wiped(leading)
    leading.flushed()
    leading.fetch(leading.end)
    assert leading.high_watermark == leading.end
