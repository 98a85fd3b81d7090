"""The forms of a verdict: text for people, JSON for programs, and the line of a plugin of Nagios."""

from __future__ import annotations

import json
from typing import Final

from kraftctl.cli.health.verdict import (
    BROKERS_NOT_CHECKED,
    HEALTHY,
    NOT_KNOWN,
    PARTITIONS_NOT_CHECKED,
    UNHEALTHY,
    ClusterHealth,
)
from kraftctl_protocol.counted_text import counted
from kraftctl_protocol.escaped_text import escaped

STATUSES: Final = {HEALTHY: 0, UNHEALTHY: 10, NOT_KNOWN: 1}

NAGIOS: Final = {HEALTHY: ("OK", 0), UNHEALTHY: ("CRITICAL", 2), NOT_KNOWN: ("UNKNOWN", 3)}
"""Nagios knows only the statuses 0 to 3."""


NOT_CHECKED: Final = {BROKERS_NOT_CHECKED: "quorum", PARTITIONS_NOT_CHECKED: "quorum and brokers"}
"""What a verdict is about, by the note of what was not checked."""


def text_of(health: ClusterHealth) -> str:
    lines = [health.kind.upper()]
    if health.kind == HEALTHY:
        for note in _not_checked(health):
            lines = [f"{NOT_CHECKED[note].upper()} HEALTHY: {note.partition(':')[0]}"]
    if health.leader_id >= 0:
        lines.append(
            f"leader {health.leader_id}, epoch {health.leader_epoch}, high watermark {health.high_watermark}"
        )
    lines += [f"voter {voter_id}: {said}" for voter_id, said in health.voters.items()]
    shown = {f"voter {voter_id}: {said}" for voter_id, said in health.voters.items()}
    lines += [each for each in health.reasons if each not in shown]
    lines += [f"note: {each}" for each in health.notes]
    return "\n".join(map(escaped, lines))


def json_of(health: ClusterHealth) -> str:
    """Returns the verdict as one line."""
    return json.dumps(
        {
            "verdict": health.kind,
            "not_checked": [note.partition(" were")[0] for note in _not_checked(health)],
            "reasons": list(health.reasons),
            "leader_id": health.leader_id,
            "leader_epoch": health.leader_epoch,
            "high_watermark": health.high_watermark,
            "voters": {str(voter_id): said for voter_id, said in health.voters.items()},
            "notes": list(health.notes),
        }
    )


def nagios_of(health: ClusterHealth) -> str:
    """Returns one line; a vertical bar begins the figures, so reasons have none."""
    name, _ = NAGIOS[health.kind]
    what = "; ".join(health.reasons) or f"leader {health.leader_id}, {counted(len(health.voters), 'voter')}"
    what += "".join(f"; {note.partition(':')[0]}" for note in _not_checked(health))
    well = sum(said in ("leader", "follower") for said in health.voters.values())
    figures = f"voters={len(health.voters)} voters_well={well} epoch={health.leader_epoch}"
    return f"KRAFT {name} - {escaped(what).replace('|', '/')} | {figures}"


def _not_checked(health: ClusterHealth) -> list[str]:
    return [note for note in health.notes if note in NOT_CHECKED]


FORMS: Final = {"text": text_of, "json": json_of, "nagios": nagios_of}


def status_of(health: ClusterHealth, form: str) -> int:
    """Returns the exit status."""
    return NAGIOS[health.kind][1] if form == "nagios" else STATUSES[health.kind]
