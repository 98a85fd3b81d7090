"""Starts nodes again that end by themselves, as a supervisor of processes does."""

from __future__ import annotations

import signal
from collections.abc import Callable

from kraftctl.dev.nodes import JavaBroker, Node

BROKER_PAUSE_S = 20
"""The pause is longer than broker.session.timeout.ms (9 s): time to see a killed broker fenced."""

QUICK_END_S = 60
"""A node that ends earlier after a start is not cured by the start: the next pause is longer."""

PAUSE_S_MAX = 120


class RestartedNode:
    """A node that runs: however it ends, it starts again, later each time while it ends soon after that."""

    def __init__(self, node: Node, say: Callable[[str], None], now_s: float) -> None:
        self._node = node
        self._say = say
        self._started_s = now_s
        self._is_ready = True
        self._quick_ends_count = 0
        self._due_s: float | None = None

    def look(self, now_s: float) -> None:
        """Starts the node when it is due, and says what has changed. It is called again and again."""
        node = self._node
        if node.running:
            if not self._is_ready and node.is_ready():
                self._is_ready = True
                self._say(f"{node.name} is running again.")
        elif self._due_s is None:
            self._due_s = now_s + self._pause_after_end_s(now_s)
        elif now_s >= self._due_s:
            self._start(now_s)

    def _start(self, now_s: float) -> None:
        try:
            self._node.start(wait=False)
        except OSError as error:
            self._due_s = now_s + PAUSE_S_MAX
            self._say(f"{self._node.name} cannot start ({error}); the next attempt is in {PAUSE_S_MAX} s")
        else:
            self._due_s, self._started_s, self._is_ready = None, now_s, False

    def _pause_after_end_s(self, now_s: float) -> int:
        """Returns the pause, and says how the node has ended."""
        node = self._node
        assert node.process is not None
        exit_code = node.process.kill()  # What it has started may hold the pipe of its output.
        is_quick = now_s - self._started_s < QUICK_END_S
        self._quick_ends_count = self._quick_ends_count + 1 if is_quick else 0
        how = "was killed" if exit_code == -signal.SIGKILL else f"has ended with {exit_code}"
        pause_s = BROKER_PAUSE_S if isinstance(node, JavaBroker) else 0
        if self._quick_ends_count > 1:
            how += f", {self._quick_ends_count} times in a row within {QUICK_END_S} s of its start"
            pause_s = min(max(pause_s, 1) << min(self._quick_ends_count - 1, 10), PAUSE_S_MAX)
        self._say(f"{node.name} {how}; it starts again in {pause_s} s. Its log: {node.log_file}")
        return pause_s
