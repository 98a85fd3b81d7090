"""The quorum-state file: epoch, leader and vote, in Kafka's JSON (KIP-595 version 0, KIP-853 version 1).

A vote is a promise: the file is replaced atomically and durably before the vote is sent. An unknown version
is refused, never guessed (KAFKA-15412): it may hold a vote.
"""

from __future__ import annotations

import json
from pathlib import Path

from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import StorageError
from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA
from kraftctl_protocol.log_file_names import QUORUM_STATE
from kraftctl_protocol.uuids import uuid_from_string, uuid_to_string

VERSION_MAX = 1


class QuorumStateStore:
    """Reads and writes the file in the directory of the metadata log."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / QUORUM_STATE

    def read(self) -> ElectionState | None:
        """None when this replica never took part in an election. Raises StorageError."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise self._unusable(str(error)) from error
        try:
            return _decode(json.loads(text.split("\n", 1)[0]))
        except (ValueError, KeyError, TypeError) as error:
            raise self._unusable(f"{type(error).__name__}: {error}") from error

    def write(self, state: ElectionState) -> None:
        """Replace the file durably, in `state.data_version`. Raises StorageError when that fails."""
        content = json.dumps(_encode(state), separators=(",", ":")).encode()
        try:
            replace_file(self.path, content)
        except OSError as error:
            raise StorageError(
                f"cannot write {self.path}: {error}. This node must not vote or lead. Next step: check the"
                " disk, then restart."
            ) from error

    def _unusable(self, reason: str) -> StorageError:
        return StorageError(
            f"{self.path} cannot be used: {reason}. It may hold a vote, so it must not be guessed or deleted."
            f" {REPLACE_THIS_REPLICA}"
        )


def _decode(fields: object) -> ElectionState:
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    version = _integer(fields["data_version"])
    if not 0 <= version <= VERSION_MAX:
        raise ValueError(f"data_version {version} is not supported, 0 to {VERSION_MAX} are")
    state = ElectionState(
        epoch=_integer(fields["leaderEpoch"]),
        leader_id=_integer(fields["leaderId"]),
        voted_id=_integer(fields["votedId"]),
        data_version=version,
    )
    if version == 0:
        voters = fields.get("currentVoters") or []
        state.current_voters = [_integer(voter["voterId"]) for voter in voters]
    else:
        state.voted_directory_id = uuid_from_string(fields["votedDirectoryId"])
    return state


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a number")
    return value


def _encode(state: ElectionState) -> dict[str, object]:
    if state.data_version == 0:
        return {
            "clusterId": "",
            "leaderId": state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": state.voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter_id} for voter_id in state.current_voters],
            "data_version": 0,
        }
    assert state.data_version <= VERSION_MAX
    return {
        "leaderId": state.leader_id,
        "leaderEpoch": state.epoch,
        "votedId": state.voted_id,
        "votedDirectoryId": uuid_to_string(state.voted_directory_id),
        "data_version": state.data_version,
    }
