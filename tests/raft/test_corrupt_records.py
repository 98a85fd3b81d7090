"""Control records with valid checksums that make no sense, from a leader: they are not appended."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl_protocol.batch_framing import CONTROL_BIT
from kraftctl_protocol.control_record import encode_control_value
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import read_batch_header
from tests.support.corrupt_directory import control_record, raw_batch, record, voters_record
from tests.support.simulator.quorum import StartQuorum

LEADER_CHANGE = 2
VOTERS = 6
KRAFT_VERSION = 5


def replaced_by(body: bytes, epoch: int | None = None) -> Callable[[Message], None]:
    """The records in a response to Fetch become one control batch of this content."""

    def forge(response: Message) -> None:
        if isinstance(response, FetchResponse):
            partition = response.responses[0].partitions[0]
            if partition.records:
                header = read_batch_header(partition.records, 0)
                of_epoch = header.partition_leader_epoch if epoch is None else epoch
                partition.records = raw_batch(header.base_offset, of_epoch, body, attributes=CONTROL_BIT)

    return forge


def control(control_type: int, message: Message) -> bytes:
    return control_record(control_type, encode_control_value(message))


@pytest.mark.prevents("corrupt-content")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(control_record(99, b"\0\0"), "unknown control record type 99", id="type-unknown"),
        pytest.param(record(b"\0\0", key=b"\0"), "without a key of four bytes", id="key-cut"),
        pytest.param(control(VOTERS, voters_record(1))[:-2], "", id="record-cut"),
        pytest.param(control(VOTERS, VotersRecord()), "a voter set with no voters", id="voters-none"),
        pytest.param(control(VOTERS, voters_record(1, 1)), "voter 1 twice", id="voters-twice"),
        pytest.param(control(VOTERS, voters_record(-1)), "voter id -1", id="voters-negative"),
        pytest.param(
            control(KRAFT_VERSION, KRaftVersionRecord(kraft_version=99)), "kraft.version 99", id="version-99"
        ),
        pytest.param(
            control(KRAFT_VERSION, KRaftVersionRecord(kraft_version=0)), "never lowered", id="version-lowered"
        ),
    ],
)
def test_it_is_not_appended_and_fetched_again(start_quorum: StartQuorum, body: bytes, reason: str) -> None:
    quorum = start_quorum(11, [1, 2], dynamic=True)
    leader = quorum.led()
    other = quorum.followers()[0]
    quorum.run_for(2_000)
    end_offset, voters = other.raft.end_offset, other.raft.voter_set
    other.forge = replaced_by(body)
    quorum.append(leader, 1)
    quorum.run_for(8_000)
    assert other.raft.end_offset == end_offset
    assert other.raft.voter_set == voters
    said = "A newer release has written" if "99" in reason else "are unusable"
    assert [notice for notice in other.notices if said in notice and reason in notice]
    assert leader.raft.is_leader
    other.forge = None
    quorum.run_for(4_000)
    assert other.raft.end_offset == leader.raft.end_offset > end_offset


@pytest.mark.prevents("corrupt-content")
def test_a_negative_epoch_is_not_appended_to_an_empty_log(start_quorum: StartQuorum) -> None:
    """Nothing before it says that it is too low."""
    quorum = start_quorum(12, [1, 2], settled=False)
    for process in quorum.processes.values():
        process.forge = replaced_by(control(LEADER_CHANGE, LeaderChangeMessage(leader_id=1)), epoch=-1)
    quorum.run_for(20_000)
    complaints = [
        notice
        for process in quorum.processes.values()
        for notice in process.notices
        if "of epoch -1 from" in notice
    ]
    assert complaints
    for process in quorum.processes.values():
        process.forge = None
    quorum.end_well()
