"""Counts why brokers were fenced, or marked as leaving, by this controller since its start."""

from __future__ import annotations


class FencingCounts:
    """Each counts what is appended. A fencing for a lost session counts again if it is tried again."""

    def __init__(self) -> None:
        self.timed_out_count = 0
        """Its session has expired: it sent no heartbeat."""
        self.shutdown_count = 0
        """It has begun a controlled shutdown."""
        self.asked_count = 0
        """Its heartbeat asked for it, as of one that starts again, or stops and leads nothing."""
