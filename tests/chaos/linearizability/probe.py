"""A reader that asks one controller, whether it leads or not, for what only the active one may answer.

A leader that is cut off and does not know it yet would answer such reads with what it knows.
"""

from __future__ import annotations

import random
import threading
from functools import partial

from tests.chaos.linearizability import requests
from tests.chaos.linearizability.history import ISR, History
from tests.chaos.linearizability.keys import Keys
from tests.chaos.linearizability.target import Target, note

PROBE_SECONDS_MAX = 0.5
"""A controller that is cut off does not answer; the next question comes on a new connection."""

PAUSE_S = 0.05


class Probe:
    """Of one kind of keys: "reassignment", whose read is never a write, or "topic", by validateOnly."""

    def __init__(self, name: str, seed: int, kind: str, keys: Keys, history: History, port: int) -> None:
        self._rng = random.Random(f"{seed} {name}")
        self._kind = kind
        self._keys = keys
        self._history = history
        self._target = Target(name, f"port {port}", port, PROBE_SECONDS_MAX)

    def close(self) -> None:
        self._target.close()

    def run(self, ended: threading.Event) -> None:
        while not ended.wait(self._rng.uniform(0, 2 * PAUSE_S)):
            key = self._keys.one(self._kind, self._rng)
            if not key.is_prepared:
                continue
            if self._kind == "topic":
                attempt = partial(requests.create_topic, name=key.name, assignment=ISR, validate_only=True)
                note(self._history, key, "try", None, self._target, attempt)
            else:
                listing = partial(requests.list_reassignment, topic=key.name)
                note(self._history, key, "list", None, self._target, listing)
