"""The demand to remove a voter although those that remain are no majority that works.

RemoveRaftVoter has no field for it, so it is a tagged field (KIP-482) that no release of Kafka has: its
brokers forward a request as it came, its leaders read over the field, and remove every voter anyway.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest

FORCE_TAG: Final = 10_000
"""Kafka numbers the tags of a message from 0."""


def force(request: RemoveRaftVoterRequest) -> None:
    """Adds the demand to `request`."""
    request.unknown_tagged_fields = [(FORCE_TAG, b"\x01")]


def is_forced(request: RemoveRaftVoterRequest) -> bool:
    return (FORCE_TAG, b"\x01") in (request.unknown_tagged_fields or [])
