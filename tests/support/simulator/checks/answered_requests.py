"""The requests that an effect answers."""

from __future__ import annotations

from kraftctl.node.events import CloseConnection
from kraftctl.raft.effects import Respond, RespondFetch, RespondFetchSnapshot

Answer = Respond | RespondFetch | RespondFetchSnapshot | CloseConnection

ANSWERS = (Respond, RespondFetch, RespondFetchSnapshot, CloseConnection)


def answered_ids(effect: Answer) -> list[int]:
    """One, but for a Fetch that several observers sent alike."""
    return effect.request_ids if isinstance(effect, RespondFetch) else [effect.request_id]
