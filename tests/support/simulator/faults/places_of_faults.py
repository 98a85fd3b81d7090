"""Where a simulated process may end, and which of its files may be damaged."""

from __future__ import annotations

from kraftctl.node.events import (
    AbandonSnapshot,
    ReadLog,
    ReadSnapshot,
    TakeTurn,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraftctl.raft import effects

EFFECT_KINDS: tuple[type[object] | None, ...] = (
    None,
    None,
    None,
    effects.WriteQuorumState,
    effects.AppendBatch,
    effects.FlushLog,
    effects.TruncateLog,
    effects.SaveSnapshotSlice,
    effects.FinishSnapshot,
    effects.StartOver,
    effects.SendRequest,
    effects.Respond,
    effects.RespondFetch,
    effects.NoteRecovered,
    ReadLog,
    ReadSnapshot,
    TakeTurn,
    WriteSnapshotPart,
    WriteSnapshot,
    AbandonSnapshot,
)
"""Before or after which a process ends; None is any effect."""

RARE_EFFECTS: tuple[type[object], ...] = (
    effects.TruncateLog,
    effects.TruncateLog,
    effects.FinishSnapshot,
    effects.StartOver,
    effects.NoteRecovered,
    WriteSnapshotPart,
    WriteSnapshot,
)
"""After which much is written that is not forced to the disk yet, or forced in a certain order."""

CUTS = (effects.TruncateLog, effects.StartOver)
"""During which log, snapshots and recovery point disagree."""

ROTTING = (
    ".log",
    *(f"{digit}.checkpoint" for digit in range(10)),
    "quorum-state",
    "leader-epoch-checkpoint",
)
"""How the names of files end that may be damaged: not those that only `kraftctl format` writes."""

SEGMENTS = (".log",)

PROMISES = "metadata-recovery-point"
"""Damaged as well, except on a static voter: there is no safe way to replace that without a backup."""
