"""Decides whether a controller is live and ready, and gives the reasons, from facts that `watch` has found.

An election makes no controller unready. The reason for missing progress is raft's own line, which
the log has, too; `docs/troubleshooting.md` explains it.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LOOP_SECONDS_MAX: Final = 5.0
"""A loop that has not turned for this long is stuck: its longest turns are some ten milliseconds."""

DISK_SECONDS_MAX: Final = 5.0
"""A write or flush that takes longer counts as one that does not end; Kafka's election timeout is 1 s."""

FOLLOWED_SECONDS_MAX: Final = 3.0
"""A leader writes a NoOpRecord in each metadata.max.idle.interval.ms; this and four of them is late, beside
the grace of an election."""

FAILED_SECONDS_MAX: Final = 30.0
"""A controller that has failed resigns and closes its files in less."""

FREE_BYTES_MIN: Final = 1024 * 1024
"""With less room than this the next batches may not fit, and a write that fails ends the process."""


@dataclass(frozen=True)
class Facts:
    """The state of a controller at one time. A text is None when there is nothing to report.

    `no_progress` and `no_vote` are raft's lines. `applied_offset`, `high_watermark` and `end_offset` are
    exclusive; the high watermark is -1 before it is known. Seconds say for how long something lasts.
    """

    no_progress: str | None
    no_vote: str | None
    is_loaded: bool
    is_registered: bool
    is_leader: bool
    applied_offset: int
    high_watermark: int
    end_offset: int
    unapplied_seconds: float
    """Since when nothing was applied although more is committed."""
    uncommitted_seconds: float
    """Since when nothing was committed although the leader has more in its log."""
    stored_effect: str
    """The oldest work that waits for the disk, and empty without any."""
    stored_seconds: float
    log_dir: str
    follows_nothing_seconds: float = 0.0
    """Since when a follower has not learned that anything is committed, although NoOpRecords are written."""
    idle_interval_seconds: float = 0.5
    leader_id: int = -1
    voters_count: int = 0
    listener: str = ""
    """The one at which controllers are reached, and None for its own certificate without SSL."""
    certificate_expires_at_ms: int | None = None
    wall_ms: int = 0


@dataclass(frozen=True)
class Cause:
    """Why a controller is not ready; `kind` is the same while only the text changes.

    A passing one counts after the grace of an election, once a controller has been ready.
    """

    kind: str
    text: str
    is_passing: bool = False


def reasons(facts: Facts, grace_seconds: float) -> list[Cause]:
    """Returns why a controller with these facts is not ready, the first cause first; empty if it is."""
    found: list[Cause] = []
    if facts.stored_seconds > DISK_SECONDS_MAX:
        found.append(
            Cause(
                "disk",
                f"{facts.stored_effect} has waited for the disk of {facts.log_dir} for"
                f" {facts.stored_seconds:.1f} s. Next step: see"
                " dmesg and iostat -x for it, and df for its room",
            )
        )
    if facts.no_progress is not None:
        found.append(Cause("no progress", facts.no_progress))
    elif facts.is_leader and facts.uncommitted_seconds > grace_seconds:
        found.append(
            Cause(
                "commits",
                f"This leader has committed nothing for {facts.uncommitted_seconds:.1f} s: its log ends at"
                f" {facts.end_offset}, and {facts.high_watermark} is committed. Next step:"
                f" {_step_for_commits(facts)}",
            )
        )
    elif facts.follows_nothing_seconds > FOLLOWED_SECONDS_MAX + 4 * facts.idle_interval_seconds:
        found.append(
            Cause(
                "follows nothing",
                f"Leader {facts.leader_id} responds, and has committed nothing for"
                f" {facts.follows_nothing_seconds:.1f} s: {facts.high_watermark} is committed. Next step:"
                " /readyz of that leader says why, and kraftctl quorum describe --replication names the"
                " voters that lag",
                is_passing=True,
            )
        )
    if facts.no_vote is not None:
        found.append(Cause("no vote", facts.no_vote, is_passing=True))
    if not facts.is_loaded and facts.no_progress is None:
        found.append(Cause("loading", _loading(facts), is_passing=True))
    elif facts.unapplied_seconds > grace_seconds:
        found.append(
            Cause(
                "applying",
                f"Nothing of the metadata log was applied for {facts.unapplied_seconds:.1f} s: up to offset"
                f" {facts.applied_offset} of {facts.high_watermark}. Next step: see dmesg and"
                f" iostat -x for the disk of {facts.log_dir}, and the log of this controller",
            )
        )
    if not facts.is_registered and facts.is_loaded and facts.no_progress is None:
        found.append(
            Cause(
                "registration",
                "The active controller has not registered this one. Next step: see the lines about"
                " ControllerRegistration in the log of this controller",
                is_passing=True,
            )
        )
    found += _expired(facts)
    return found


def _step_for_commits(facts: Facts) -> str:
    """Returns where to look: a leader that is the only voter waits for no other."""
    if facts.voters_count == 1:
        return f"see dmesg and iostat -x for the disk of {facts.log_dir}: it is the only voter"
    return "kraftctl quorum describe --replication names the voters that lag"


def joined(texts: Sequence[str]) -> str:
    """Returns texts as sentences on one line; one text alone stays as it is."""
    *first, last = texts or ("",)
    return " ".join([*(f"{each.removesuffix('.')}." for each in first), last])


def _loading(facts: Facts) -> str:
    if facts.high_watermark < 0:
        return "The metadata is not loaded: it is not known yet what is committed"
    return (
        f"The metadata is being loaded: up to offset {max(facts.applied_offset, 0)} of {facts.high_watermark}"
    )


def _expired(facts: Facts) -> list[Cause]:
    at_ms = facts.certificate_expires_at_ms
    if at_ms is None or at_ms > facts.wall_ms:
        return []
    text = (
        f"The certificate of listener {facts.listener} has expired at {_utc(at_ms)}. Next step: replace it"
        " in its keystore; no restart is needed"
    )
    return [Cause("certificate", text)]


def _utc(at_ms: int) -> str:
    return datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC).isoformat()


def disk_full(log_dir: str, free_bytes: int | None) -> Cause | None:
    """Returns a reason when the disk has no room; None, too, while `free_bytes` is not known."""
    if free_bytes is None or free_bytes >= FREE_BYTES_MIN:
        return None
    return Cause(
        "disk full",
        f"The disk of {log_dir} has {free_bytes} bytes free, and a write that fails ends this controller."
        " Next step: make room",
    )


class Readiness:
    """Remembers since when each reason holds: a passing one is no reason in its first seconds."""

    def __init__(self) -> None:
        self.was_ready = False
        """Whether this controller was ready since its start."""
        self._since: dict[str, float] = {}

    def decide(self, found: list[Cause], now: float, grace_seconds: float) -> list[str]:
        """Returns the texts of the reasons that count at `now` seconds; empty if the controller is ready."""
        self._since = {each.kind: self._since.get(each.kind, now) for each in found}
        counted = [
            each.text
            for each in found
            if not (each.is_passing and self.was_ready and now - self._since[each.kind] < grace_seconds)
        ]
        if not counted:
            self.was_ready = True
        return counted


def why_stuck(loop_seconds: float) -> str | None:
    """Returns why a controller whose loop turned so long ago is not live; None if it is."""
    if loop_seconds <= LOOP_SECONDS_MAX:
        return None
    return (
        f"The event loop has not turned for {loop_seconds:.1f} s. Next step: kill -QUIT writes the stacks of"
        " this process to its log"
    )


def why_not_ended(failed_seconds: float) -> str | None:
    """Returns why a controller that has failed so long ago is not live; None while it may still end."""
    if failed_seconds <= FAILED_SECONDS_MAX:
        return None
    return (
        f"This controller has failed, and has not ended within {failed_seconds:.0f} s. Next step: see its log"
        " for the failure, and start it again; kill -KILL loses nothing that was acknowledged"
    )
