"""The attempts to get one usable response: how long each may take, the pauses, and what has failed so far."""

from __future__ import annotations

import logging
import time

from kraftctl_protocol.peer_limits import bounded_ms

PAUSE_S = 0.05
"""The first pause; it doubles."""
PAUSE_S_MAX = 0.4
THROTTLE_MS_MAX = 1_000
"""A controller that is busy may ask for a pause of as much (KIP-219)."""
WITHOUT_PAUSE_MAX = 4
"""This many attempts that learn of another epoch follow without a pause: a leader is found in two. A
controller that names another one each time gets no more."""
SILENCE_MIN_S = 1.0
"""A leader may delay a response by half a second."""
PROBLEMS_MAX = 16
"""An error names the problems of this many controllers: any of them may name more, without end."""

log = logging.getLogger(__name__)


class Attempts:
    """Begins when it is made. Times are those of a clock that does not go back."""

    def __init__(self, what: str, *, timeout_s: float, say_after_s: float, silence_s: float) -> None:
        self._what = what
        self._timeout_s = timeout_s
        self._silence_s = silence_s
        self._began = time.monotonic()
        self._deadline = self._began + timeout_s
        self._say_at: float | None = self._began + say_after_s
        """The time of the line that there is no leader, unless one responds. None after it."""
        self._pause_s = PAUSE_S
        self._without_pause = 0
        self._throttle_s = 0.0
        self._problems: dict[str, str] = {}
        """The latest problem of each of several hosts: any of them may be the one that is wrong."""

    def may_continue(self) -> bool:
        """Returns whether there is time for another attempt; says once that there was no response yet."""
        now = time.monotonic()
        if self._say_at is not None and now >= self._say_at:
            self._say_at = None
            self._warn(now - self._began)
        return now < self._deadline

    def patience_s(self) -> float:
        """Returns how long one controller may be silent now: not beyond the end."""
        now = time.monotonic()
        patience_s = self._silence_s
        if self._say_at is not None:
            patience_s = min(patience_s, max(SILENCE_MIN_S, self._say_at - now))
        return max(0.001, min(patience_s, self._deadline - now))

    def throttled(self, throttle_time_ms: int) -> None:
        """Notes the pause that a controller asks for."""
        self._throttle_s = bounded_ms(throttle_time_ms, THROTTLE_MS_MAX) / 1000

    def failed(self, controller: str, problem: str) -> None:
        """Notes why a response is of no use. What a controller said stays if the end cuts this short."""
        if controller in self._problems and time.monotonic() >= self._deadline:
            return
        self._problems.pop(controller, None)
        self._problems[controller] = problem
        if len(self._problems) > PROBLEMS_MAX:
            del self._problems[next(iter(self._problems))]

    def pause(self, *, has_news: bool) -> None:
        """Waits before the next attempt, but not when this one had news of the leader, a few times."""
        if has_news and self._throttle_s == 0 and self._without_pause < WITHOUT_PAUSE_MAX:
            self._without_pause += 1
            return
        wait_s = max(self._pause_s, self._throttle_s)
        self._pause_s = min(2 * self._pause_s, PAUSE_S_MAX)
        self._throttle_s = 0.0
        time.sleep(max(0.0, min(wait_s, self._deadline - time.monotonic())))

    def end(self) -> str:
        """Returns the text of the error after the last attempt."""
        return f"no response about {self._what} within {self._timeout_s:g} s: {self._text()}"

    def _text(self) -> str:
        named = [f"{controller}: {problem}" for controller, problem in self._problems.items()]
        return "; ".join(named) or "no leader"

    def _warn(self, seconds: float) -> None:
        log.warning(
            "No leader has answered about %s for %.1f s, and %g s are waited: %s. Next step: start the"
            " controllers that are not reached; the log of each says why it elects no leader",
            self._what,
            seconds,
            self._timeout_s,
            self._text(),
        )
