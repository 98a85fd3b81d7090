"""Decides whether a controller may stop now: whether the others are a majority that works without it.

A voter works if it has fetched, within the last fetch timeout, all that its leader had then: the rule by
which a leader refuses to remove a voter (`kraftctl.raft.working_majority`). A voter that restarts remains
one, so a majority of all is needed here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VoterProgress:
    """A voter, and how long ago it had everything that the leader had; None if it never had since then."""

    voter_id: int
    caught_up_ms_ago: int | None


def why_not_stop(own_id: int, voters: list[VoterProgress], within_ms: int) -> str | None:
    """Returns why `own_id` must not stop; None if it may. The leader had everything 0 ms ago."""
    if own_id not in [each.voter_id for each in voters]:
        return None
    others = [each for each in voters if each.voter_id != own_id]
    if not others:
        return (
            f"Controller {own_id} is the only voter: nothing can be changed until it has started again. Next"
            " step: stop it when that does no harm"
        )
    missing = [each for each in others if not _works(each, within_ms)]
    needed = len(voters) // 2 + 1
    working = len(others) - len(missing)
    if working >= needed:
        return None
    ids = ", ".join(str(each.voter_id) for each in voters)
    names = ", ".join(f"{each.voter_id} ({_since(each)})" for each in missing) or "none"
    step = "start the missing ones, and wait until they have everything"
    if not missing:
        step = f"with {len(voters)} voters none can be missed: stop it when that does no harm"
    return (
        f"Of the voters {ids}, {needed} are needed, and without controller {own_id} only {working} have"
        f" everything: the quorum would stop. Missing: {names}. Next step: {step}"
    )


def _works(voter: VoterProgress, within_ms: int) -> bool:
    return voter.caught_up_ms_ago is not None and voter.caught_up_ms_ago < within_ms


def _since(voter: VoterProgress) -> str:
    if voter.caught_up_ms_ago is None:
        return "it has not had everything since this leader was elected"
    return f"it had everything {voter.caught_up_ms_ago / 1000:.1f} s ago"
