"""Remembers which replicas responded at addresses where another one was expected."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import NEVER_MS

ASKED_EVERY_MS: Final = 60_000

KEPT_MAX: Final = 64
"""The number of addresses, and of open questions; the oldest is forgotten first."""


class Identity:
    """The known facts about one address: `candidates` may still be behind it, the next one to ask for
    first.
    """

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.asked_ms = -NEVER_MS
        self.candidates: list[ReplicaKey] = []
        self.cluster_id: str | None = None
        self.key: ReplicaKey | None = None
        self.is_none_of_them = False

    def is_to_be_asked(self, now_ms: int) -> bool:
        return now_ms - self.asked_ms >= ASKED_EVERY_MS

    def is_settled(self, now_ms: int, patience_ms: int) -> bool:
        """Returns whether nothing more is to be expected: it is known, or it answers no question."""
        return self.key is not None or self.is_none_of_them or now_ms - self.asked_ms >= patience_ms

    def is_nobody(self) -> None:
        self.key = None
        self.is_none_of_them = True

    def is_replica(self, key: ReplicaKey) -> None:
        self.key = key
        self.is_none_of_them = False
        self.candidates = []


class Identities:
    """The identities by address, and by the send ids of the questions."""

    def __init__(self) -> None:
        self._by_address: dict[tuple[str, int], Identity] = {}
        self._asked: dict[int, Identity] = {}

    def of(self, host: str, port: int) -> Identity:
        identity = self._by_address.get((host, port))
        if identity is None:
            if len(self._by_address) >= KEPT_MAX:
                self._by_address.pop(next(iter(self._by_address)))
            identity = self._by_address[(host, port)] = Identity(host, port)
        return identity

    def asked(self, send_id: int, identity: Identity, now_ms: int) -> None:
        if len(self._asked) >= KEPT_MAX:
            self._asked.pop(next(iter(self._asked)))
        self._asked[send_id] = identity
        identity.asked_ms = now_ms

    def answered(self, send_id: int) -> Identity | None:
        """Returns the address that this question was sent to; only once."""
        return self._asked.pop(send_id, None) if self._asked else None
