"""The simulator damages quorum-state in ways that a reader notices."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.errors import StorageError
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl_protocol.log_file_names import QUORUM_STATE
from tests.support.file_states import DirectoryState, FileState
from tests.support.simulator.disks import disk_faults
from tests.support.simulator.disks.quorum_state_damage import changes_a_promise

STATES = [
    pytest.param(ElectionState(epoch=10, leader_id=3, data_version=1), id="leader"),
    pytest.param(ElectionState(epoch=21, voted_id=1, data_version=0, current_voters=[1, 2]), id="vote"),
]


@pytest.mark.parametrize("state", STATES)
def test_a_flipped_bit_is_refused_or_harmless(state: ElectionState, tmp_path: Path) -> None:
    store = QuorumStateStore(tmp_path)
    store.write(state)
    content = store.path.read_bytes()
    rng = random.Random(1)
    refused = 0
    for _ in range(300):
        tree = DirectoryState()
        tree.names[QUORUM_STATE] = file = FileState(content)
        assert disk_faults.flip_bit(tree, rng, (QUORUM_STATE,)) is not None
        store.path.write_bytes(file.content())
        try:
            found = store.read()
        except StorageError:
            refused += 1
        else:
            assert found is not None
            assert (found.epoch, found.leader_id, found.voted_id) == (
                state.epoch,
                state.leader_id,
                state.voted_id,
            )
    assert refused > 100


def test_another_digit_is_another_promise() -> None:
    content = json.dumps({"leaderId": 3, "leaderEpoch": 10}).encode()
    assert changes_a_promise(content, content.replace(b"3", b"2"))
    assert not changes_a_promise(content, content.replace(b"3", b"x"))
    assert not changes_a_promise(content, content.replace(b"3", b'"3"'))
    assert not changes_a_promise(content, content + b"\nrest")
