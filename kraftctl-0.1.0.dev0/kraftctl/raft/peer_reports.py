"""Keeps the result of the latest request to each address of another controller, also in a new state."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.peer_failures import NEXT_STEPS, PeerFailure

NOT_ASKED: Final = "not asked"
ANSWERS: Final = "answers"
REJECTS: Final = "rejects"
KNOWS_NO_LEADER: Final = "knows no leader"
OTHER_CLUSTER: Final = "other cluster"
OTHER_REPLICA: Final = "other replica"
NO_RIGHT: Final = "no right"
REFUSES: Final = "refuses"

TEXTS: Final[dict[str, str]] = {
    NOT_ASKED: "no response yet",
    ANSWERS: "answers",
    REJECTS: "answers, but does not vote for this node",
    KNOWS_NO_LEADER: "answers, and knows no leader",
    OTHER_CLUSTER: "belongs to another cluster",
    OTHER_REPLICA: "is another replica",
    NO_RIGHT: "denies this node the right CLUSTER_ACTION",
}

STEPS: Final[dict[str, str]] = {
    OTHER_CLUSTER: "correct the addresses of controllers of another cluster",
    OTHER_REPLICA: "correct the addresses at which another replica answers",
    NO_RIGHT: "let the principal of this node do ClusterAction",
    KNOWS_NO_LEADER: "start the other voters",
}

REACHED: Final = frozenset((ANSWERS, REJECTS, KNOWS_NO_LEADER))
"""A voter with this report takes part in elections."""

REPORTS_MAX: Final = 64
"""The number of reports: addresses of leaders come off the wire, so the oldest is forgotten first."""


class PeerReport:
    """The result for one address since `since_ms`. `peer_id` is negative for a bootstrap server."""

    def __init__(self, peer_id: int, host: str, port: int) -> None:
        self.peer_id = peer_id
        self.host = host
        self.port = port
        self.kind = NOT_ASKED
        self.text = TEXTS[NOT_ASKED]
        self.since_ms = 0

    def answers(self) -> None:
        self.kind = ANSWERS
        self.text = TEXTS[ANSWERS]

    def note(self, kind: str, text: str, now_ms: int) -> None:
        if kind != self.kind:
            self.kind = kind
            self.since_ms = now_ms
        self.text = text

    def failed(self, failure: PeerFailure, now_ms: int) -> None:
        self.note(failure.kind, failure.text, now_ms)

    @property
    def is_reached(self) -> bool:
        return self.kind in REACHED

    @property
    def next_step(self) -> str | None:
        """Returns the next step for the connection, or for the replica there."""
        return NEXT_STEPS.get(self.kind) or STEPS.get(self.kind)

    @property
    def name(self) -> str:
        address = f"{self.host}:{self.port}"
        if self.peer_id < 0:
            return f"the bootstrap server {address}"
        return f"controller {self.peer_id} at {address}"

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class PeerReports:
    """The reports by id, host and port."""

    def __init__(self) -> None:
        self._by_address: dict[tuple[int, str, int], PeerReport] = {}

    def all(self) -> list[PeerReport]:
        return list(self._by_address.values())

    def look_up(self, peer_id: int, host: str, port: int) -> PeerReport:
        """Returns the report of this peer at this address, without keeping a new one."""
        report = self._by_address.get((peer_id, host, port))
        return PeerReport(peer_id, host, port) if report is None else report

    def of(self, peer_id: int, host: str, port: int) -> PeerReport:
        """Returns the only report of this peer at this address."""
        address = (peer_id, host, port)
        report = self._by_address.get(address)
        if report is None:
            if len(self._by_address) >= REPORTS_MAX:
                self._by_address.pop(next(iter(self._by_address)))
            report = self._by_address[address] = PeerReport(peer_id, host, port)
        return report
