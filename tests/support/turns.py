"""Requests in turns, as connections of the controller let them take theirs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kraftctl.server.loop.node_loop import NodeLoop
from kraftctl.server.loop.request_turns import MUST_WAIT, URGENT


def in_turn(loop: NodeLoop, frame: bytes, address: bytes, offer: Callable[[], object]) -> None:
    """Calls `offer`, which offers the request of `frame`, now or in a later turn of the loop."""
    began_ns = loop.turns.begin(frame, busy=loop.is_busy())
    if began_ns < URGENT:
        later = loop.turns.begin_later if began_ns == MUST_WAIT else loop.turns.begin_soon
        later(address, partial(in_turn, loop, frame, address, offer))
        return
    offer()
    if began_ns != URGENT:
        loop.turns.end(address, began_ns)
