"""Which part of a controller a line for the log comes from: the last part of its logger's name.

Raft's own lines come from `kraftctl.raft.effects.RAFT`.
"""

from __future__ import annotations

from typing import Final

CONTROLLER: Final = "controller"
"""The metadata state machine: claims, fencing, elections of partition leaders, refusals."""

SNAPSHOT: Final = "snapshot"
"""What a node says while it writes snapshots (KIP-630)."""

LOADER: Final = "loader"
"""How far the log and its snapshot are read, after a start."""

REGISTRATION: Final = "registration"
"""This node's own ControllerRegistration with the active controller (KIP-919)."""

SOURCES: Final = (CONTROLLER, SNAPSHOT, LOADER, REGISTRATION)
