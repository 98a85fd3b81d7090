"""Decides whether a controller may stop now: whether the others are a majority that works without it.

A voter works if it has fetched, within the last second, all that its leader had then. A voter that restarts
remains one, so a majority of all is needed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WORKS_WITHIN_MS: Final = 1_000
"""A voter fetches twice a second, so one that has ended a second ago does not count any more."""

YES: Final = "yes"
NOT_NOW: Final = "not now"
ONLY_WITH_AN_OUTAGE: Final = "only with an outage"
"""With one or two voters no time is better: all have to run."""

NOT_KNOWN: Final = "not known"

QUIET_TIME: Final = "choose a time at which no topic, partition or broker has to change"

NO_LOCK: Final = "Ask again right before it stops: two that ask in one moment both get this"


@dataclass(frozen=True)
class VoterProgress:
    """A voter, and how long ago it had everything that the leader had; None if it never had since then."""

    voter_id: int
    caught_up_ms_ago: int | None


@dataclass(frozen=True)
class Verdict:
    """One of YES, NOT_NOW, ONLY_WITH_AN_OUTAGE and NOT_KNOWN, and why."""

    kind: str
    text: str


def may_stop(own_id: int, voters: list[VoterProgress]) -> Verdict:
    """Returns whether `own_id` may stop. The leader had everything 0 ms ago."""
    if own_id not in [each.voter_id for each in voters]:
        return Verdict(YES, f"Controller {own_id} is no voter: no majority needs it")
    others = [each for each in voters if each.voter_id != own_id]
    if not others:
        return Verdict(
            ONLY_WITH_AN_OUTAGE,
            f"Controller {own_id} is the only voter: nothing can be changed from its stop until it leads"
            f" again. Next step: {QUIET_TIME}",
        )
    missing = [each for each in others if not _works(each)]
    needed = len(voters) // 2 + 1
    working = len(others) - len(missing)
    if working >= needed:
        return Verdict(
            YES, f"Controller {own_id} may be stopped: a majority of the voters works without it. {NO_LOCK}"
        )
    ids = ", ".join(str(each.voter_id) for each in voters)
    names = ", ".join(f"{each.voter_id} ({_since(each)})" for each in missing) or "none"
    kind, step = NOT_NOW, "start the missing ones, and wait until they have everything"
    if not missing:
        kind = ONLY_WITH_AN_OUTAGE
        step = f"{QUIET_TIME}, as {needed} of {len(voters)} voters are all of them; or add a third voter"
    return Verdict(
        kind,
        f"Of the voters {ids}, {needed} are needed, and without controller {own_id} only {working} have"
        f" everything: the quorum would stop. Missing: {names}. Next step: {step}",
    )


def _works(voter: VoterProgress) -> bool:
    return voter.caught_up_ms_ago is not None and voter.caught_up_ms_ago < WORKS_WITHIN_MS


def _since(voter: VoterProgress) -> str:
    if voter.caught_up_ms_ago is None:
        return "it has not had everything since this leader was elected"
    return f"it had everything {voter.caught_up_ms_ago / 1000:.1f} s ago"
