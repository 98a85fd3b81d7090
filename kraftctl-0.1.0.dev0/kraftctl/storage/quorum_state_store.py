"""The quorum-state file: epoch, leader and vote, in Kafka's JSON (KIP-595 version 0, KIP-853 version 1).

A vote is a promise: the file is replaced atomically and durably before the vote is sent. An unknown version
is refused, never guessed (KAFKA-15412): it may hold a vote.
"""

from __future__ import annotations

import json
from pathlib import Path

from kraftctl.raft.election_state import NOT_VOTED, UNKNOWN_LEADER_ID, ElectionState
from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import StorageError, cannot, shortened
from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA
from kraftctl_protocol.log_file_names import QUORUM_STATE
from kraftctl_protocol.uuids import uuid_from_string, uuid_to_string

VERSION_MAX = 1

FILE_BYTES_MAX = 1 << 20
"""Kafka has no limit; a version 0 file with 10,000 voters has 180 kB, and this one is read into memory."""

EPOCH_MAX = (1 << 31) - 1
NODE_ID_MAX = (1 << 31) - 1
"""Both ids are int32 in every message."""


class QuorumStateStore:
    """Reads and writes the file in the directory of the metadata log."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / QUORUM_STATE

    def read(self) -> ElectionState | None:
        """Returns None when this replica never took part in an election. Raises StorageError."""
        try:
            size_bytes = self.path.stat().st_size
            if size_bytes > FILE_BYTES_MAX:
                raise self._unusable(f"it has {size_bytes} bytes, at most {FILE_BYTES_MAX} are expected")
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise cannot(
                "read", self.path, error, "It may hold a vote, so it must not be guessed."
            ) from error
        except UnicodeDecodeError as undecodable:
            raise self._unusable(str(undecodable)) from undecodable
        try:
            return _decode(json.loads(text.split("\n", 1)[0]))
        except KeyError as error:
            raise self._unusable(f"it has no {error.args[0]}") from error
        except RecursionError as error:
            raise self._unusable("its JSON is nested too deeply") from error
        except (ValueError, TypeError) as error:
            raise self._unusable(str(error)) from error

    def write(self, state: ElectionState) -> None:
        """Replaces the file durably, in `state.data_version`. Raises StorageError when that fails."""
        content = json.dumps(_encode(state), separators=(",", ":")).encode()
        replace_file(self.path, content, note="This node must not vote or lead.")

    def _unusable(self, reason: str) -> StorageError:
        return StorageError(
            f"{self.path} cannot be used: {shortened(reason)}. It may hold a vote, so it must not"
            " be guessed or deleted."
            f" {REPLACE_THIS_REPLICA}"
        )


def _decode(fields: object) -> ElectionState:
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    version = _integer(fields, "data_version")
    if not 0 <= version <= VERSION_MAX:
        raise ValueError(f"data_version {version} is not supported, 0 to {VERSION_MAX} are")
    state = ElectionState(
        epoch=_in_range(fields, "leaderEpoch", 0, EPOCH_MAX),
        leader_id=_in_range(fields, "leaderId", UNKNOWN_LEADER_ID, NODE_ID_MAX),
        voted_id=_in_range(fields, "votedId", NOT_VOTED, NODE_ID_MAX),
        data_version=version,
    )
    if version == 0:
        voters = fields.get("currentVoters") or []
        state.current_voters = [_in_range(voter, "voterId", 0, NODE_ID_MAX) for voter in voters]
    else:
        directory_id = fields["votedDirectoryId"]
        if not isinstance(directory_id, str):
            raise ValueError(f"votedDirectoryId {directory_id!r} is not a text")
        state.voted_directory_id = uuid_from_string(directory_id)
    return state


def _in_range(fields: dict[str, object], name: str, low: int, high: int) -> int:
    value = _integer(fields, name)
    if not low <= value <= high:
        raise ValueError(f"{name} {value} is not from {low} to {high}")
    return value


def _integer(fields: dict[str, object], name: str) -> int:
    value = fields[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} {value!r} is not a whole number")
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
