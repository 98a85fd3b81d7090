"""Decides when a batch of an export begins, and how many offsets it has at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchSchedule:
    """The schedule of the batches of the typed tables."""

    offsets_per_trigger: int
    interval: str
    """The pause between the beginnings of batches, as Spark writes it: `30 seconds`."""
    interval_s: float
    """The same in seconds."""
    available_now: bool
    """Whether to stop when caught up with what was committed at the start."""
