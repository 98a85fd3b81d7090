"""The states of a connection and the events that change them: one table, as h11 has for HTTP.

A connection has a state on each of two sides. On the side of requests, one request after the other begins,
waits and is answered. On the side of the socket, the client may send more, or has to wait. An event that has
no entry for a state is a bug: `next_state` refuses it.
"""

from __future__ import annotations

from typing import Final

NEW: Final = 0
"""The socket is accepted, and whether there is room for it is not decided."""
IDLE: Final = 1
"""No request begins, waits or is answered."""
WAITING: Final = 2
"""A request waits as bytes: this turn of the loop has no time for it."""
STARTING: Final = 3
"""A request is being handed over. A response that comes now leaves with others at the end of the turn."""
ANSWERING: Final = 4
"""The node has a request, or SASL has a token. The response comes later."""
MUTED: Final = 5
"""The client has used up a quota, and is not served for a time."""
CLOSING: Final = 6
"""Nothing is served any more. What was written is sent, then the socket is closed."""
LOST: Final = 7
"""The socket is closed."""

READING: Final = 8
"""The client may send."""
PAUSED: Final = 9
"""The client has to wait until requests that have come are served."""
FULL: Final = 10
"""The client has to read a response first."""

ADMIT: Final = 0
"""There is room for the connection."""
WAIT: Final = 1
"""The next request has no time in this turn."""
TURN: Final = 2
"""The request that waits has time now, or the time of a client that is not served is over."""
START: Final = 3
"""A request is handed over."""
SUBMIT: Final = 4
"""The request was handed over, and its response did not come within."""
ANSWER: Final = 5
"""The response has come."""
MUTE: Final = 6
"""The response says that the client has used up a quota."""
CLOSE: Final = 7
"""This side ends the connection."""
LOSE: Final = 8
"""The loop says that the socket is closed."""

HOLD: Final = 9
"""Requests are held while another one is answered."""
READ_ON: Final = 10
"""None is held any more."""
FILL: Final = 11
"""The socket takes no more of a response."""
DRAIN: Final = 12
"""The client has read it."""

TRANSITIONS: Final = {
    NEW: {ADMIT: IDLE, CLOSE: CLOSING, LOSE: LOST},
    IDLE: {WAIT: WAITING, START: STARTING, MUTE: MUTED, CLOSE: CLOSING, LOSE: LOST},
    WAITING: {TURN: IDLE, CLOSE: CLOSING, LOSE: LOST},
    STARTING: {ANSWER: IDLE, SUBMIT: ANSWERING, CLOSE: CLOSING, LOSE: LOST},
    ANSWERING: {ANSWER: IDLE, CLOSE: CLOSING, LOSE: LOST},
    MUTED: {TURN: IDLE, CLOSE: CLOSING, LOSE: LOST},
    # A turn or a response that was asked for before may come late.
    CLOSING: {TURN: CLOSING, ANSWER: CLOSING, CLOSE: CLOSING, LOSE: LOST},
    LOST: {TURN: LOST},
    READING: {HOLD: PAUSED, FILL: FULL},
    PAUSED: {READ_ON: READING, FILL: FULL},
    FULL: {DRAIN: PAUSED},
}

STATE_NAMES: Final = (
    *("NEW", "IDLE", "WAITING", "STARTING", "ANSWERING", "MUTED", "CLOSING", "LOST"),
    *("READING", "PAUSED", "FULL"),
)
EVENT_NAMES: Final = (
    *("ADMIT", "WAIT", "TURN", "START", "SUBMIT", "ANSWER", "MUTE", "CLOSE", "LOSE"),
    *("HOLD", "READ_ON", "FILL", "DRAIN"),
)

_REFUSED: Final = 255
_EVENTS_COUNT: Final = 13


def _flat() -> bytes:
    """Returns the table as one row of bytes: two look-ups in dicts take ten times as long."""
    states, events = range(len(STATE_NAMES)), range(_EVENTS_COUNT)
    return bytes([TRANSITIONS[state].get(event, _REFUSED) for state in states for event in events])


_FLAT: Final = _flat()


def next_state(state: int, event: int) -> int:
    """Returns the state after `event`, on the side that the event belongs to."""
    following = _FLAT[state * _EVENTS_COUNT + event]
    assert following != _REFUSED, f"a connection that is {STATE_NAMES[state]} has no {EVENT_NAMES[event]}"
    return following
