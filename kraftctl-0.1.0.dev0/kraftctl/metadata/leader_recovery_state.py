"""KIP-704: whether a partition leader still has to recover from an unclean election."""

from __future__ import annotations

from typing import Final

RECOVERED: Final = 0
"""The last election was clean, or the leader has finished recovering."""

RECOVERING: Final = 1
"""The last election was unclean; until the leader reports RECOVERED it is the only ISR member."""

NO_CHANGE: Final = -1
"""In a PartitionChangeRecord, the state stays as it was."""


def is_leader_recovery_state(value: int) -> bool:
    """Returns True for the two states a partition can be in."""
    return value == RECOVERED or value == RECOVERING


def change_leader_recovery_state(current: int, change: int) -> int:
    """Returns the state after a record that says `change`; the record was validated before it was written."""
    if change == NO_CHANGE:
        return current
    assert is_leader_recovery_state(change), f"unknown leader recovery state {change}"
    return change
