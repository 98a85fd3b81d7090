"""What operators, supervisors and old hardware do to one controller: `--faults rare`.

A file changes in one bit, a directory comes back from an older copy, a voter is removed and added again, the
wall clock jumps. Before a damaged voter returns, the others commit without it: so each of them has everything
that is committed, and what the voter has forgotten costs no record, and no vote that counts.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from kraftctl.dev.nodes import Node
from kraftctl.dev.settings import CONTROLLER_LISTENER
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import uuid_from_string
from tests.chaos.cluster import ChaosCluster
from tests.chaos.faults import READY_SECONDS_MAX, ControllerFaults, Steps, during, until
from tests.chaos.watching import Watch
from tests.support.wire.controller_client import ControllerClient

RETURN_SECONDS_MAX = 20.0
"""A damaged controller that has not caught up by then has not recovered."""

SERVES_SECONDS = 3.0
"""How long one that has returned is observed: it may read what is damaged later."""

RESTARTS = 2
"""How often a supervisor starts what has ended, before the operator comes."""

JUMPS_SECONDS = (-7200.0, -60.0, -1.0, 1.0, 60.0, 7200.0, 86_400.0)
CALL_SECONDS_MAX = 5.0

CAUGHT_UP_RECORDS = 200
"""The log grows while it is asked for; a controller that is so near follows it."""

NOT_DAMAGED = (".lock", ".index", ".timeindex", ".txnindex")
"""Files without content of their own: indexes are written again at a start."""

RARE_KINDS = (
    ("bit_flip", 4),
    ("older_copy", 3),
    ("churn", 3),
    ("clock_jump", 3),
    ("kill", 2),
    ("isolate", 1),
)


class RareFaults(ControllerFaults):
    """`outcomes` counts what became of damaged controllers, by file or by fault."""

    def __init__(self, cluster: ChaosCluster, watch: Watch, seed: int, note: Callable[[str], None]) -> None:
        super().__init__(cluster, watch, seed, note)
        self.outcomes: Counter[str] = Counter()

    @property
    def kinds(self) -> Sequence[tuple[str, int]]:
        return RARE_KINDS

    # Damage.

    def _bit_flip(self, node: Node, seconds: float) -> Steps:
        """One bit of any file of a controller that was killed."""
        yield from self._is_alone_behind(node)
        files = [path for path in sorted(node.log_directory.rglob("*")) if _has_content(path)]
        kind = self.rng.choice(sorted({_kind_of(path) for path in files}))
        path = self.rng.choice([path for path in files if _kind_of(path) == kind])
        data = path.read_bytes()
        position, bit = self.rng.randrange(len(data)), self.rng.randrange(8)
        kept = self._copy(node)
        damaged = bytearray(data)
        damaged[position] ^= 1 << bit
        path.write_bytes(damaged)
        self.where = f"{node.name} {path.name}, bit {bit} of byte {position} of {len(data)}"
        yield from self._returns(node, f"bit flip in {kind}", kept)
        yield from self._mend(node, path, bytes(damaged), data)

    def _mend(self, node: Node, path: Path, damaged: bytes, data: bytes) -> Steps:
        """What may have no effect yet has none later: the bit flips back, where it is still there."""
        if path.exists() and path.read_bytes().startswith(damaged):
            self.cluster.kill([node])
            path.write_bytes(data + path.read_bytes()[len(data) :])
            self._adopt(node)
        if not node.running:
            yield from self._comes_back(node)

    def _older_copy(self, node: Node, seconds: float) -> Steps:
        """The directory as it was some seconds before."""
        self.cluster.kill([node])
        older = self._copy(node)
        yield from self.restarts([node])
        yield from during(seconds + 2)
        yield from self._is_alone_behind(node)
        kept = self._copy(node)
        self._put_back(node, older)
        yield from self._returns(node, "older copy", kept)
        if not node.running:
            yield from self._comes_back(node)

    def _is_alone_behind(self, node: Node) -> Steps:
        """Kills it, and waits until the others have committed without it."""
        self.cluster.kill([node])
        ends = max(self.watch.end_offsets.values(), default=0)
        yield from until(
            lambda: self.watch.log.end_offset > ends,
            f"the others commit without {node.name}",
            READY_SECONDS_MAX,
        )

    def _returns(self, node: Node, what: str, kept: Path) -> Steps:
        """Starts it, as a supervisor does again and again; without success the copy takes its place.

        One that has ended later keeps its directory, since it may have voted with it. If it does not start
        again with it either, the caller has to mend it.
        """
        self._adopt(node)
        yield from self._supervise(node)
        outcome = "refused" if not node.running else "recovered" if self._has_returned(node) else "useless"
        if outcome == "recovered":
            yield from during(SERVES_SECONDS)
            outcome = outcome if node.running else "ended later"
        self.outcomes[f"{what}: {outcome}"] += 1
        if outcome in ("refused", "useless"):
            self.where += f", {outcome}: {_last_line(node)}"
            self.cluster.kill([node])
            self._put_back(node, kept)
            self._adopt(node)
            yield from self._comes_back(node)
            return
        self.where += f", {outcome}"
        if not node.running:
            yield from self._supervise(node)
        if node.running:
            self.cluster.down.discard(node)
        shutil.rmtree(kept)

    def _supervise(self, node: Node) -> Steps:
        for _ in range(1 + RESTARTS):
            self.cluster.restart(node)
            self.cluster.down.add(node)
            yield from self._end_or_return(node)
            if node.running:
                return

    def _comes_back(self, node: Node) -> Steps:
        yield from self.restarts([node])
        yield from until(lambda: self._has_returned(node), f"{node.name} catches up", READY_SECONDS_MAX)

    def _end_or_return(self, node: Node) -> Steps:
        end = time.monotonic() + RETURN_SECONDS_MAX
        while node.running and not self._has_returned(node) and time.monotonic() < end:
            yield

    def _has_returned(self, node: Node) -> bool:
        """Whether the leader says that it has all that is committed."""
        return (
            self.cluster.is_ready(node)
            and self.watch.leader() is not None
            and self.watch.end_offsets.get(node.node_id, -1) >= self.watch.log.end_offset - CAUGHT_UP_RECORDS
        )

    def _copy(self, node: Node) -> Path:
        copy = node.directory / f"copy-{self.counts.total()}-{time.monotonic_ns()}"
        shutil.copytree(node.log_directory, copy)
        return copy

    def _put_back(self, node: Node, copy: Path) -> None:
        """The copy becomes the directory."""
        shutil.rmtree(node.log_directory)
        copy.rename(node.log_directory)

    def _adopt(self, node: Node) -> None:
        if node in self.cluster.disks:
            self.cluster.disks[node].adopt()

    # Members and clocks.

    def _churn(self, node: Node, seconds: float) -> Steps:
        """It is removed as a voter and added again; the leader may refuse either for a while."""
        key = node.node_id, uuid_from_string(self.cluster.directory_ids[node.node_id])
        remove = RemoveRaftVoterRequest(
            cluster_id=self.cluster.cluster_id, voter_id=key[0], voter_directory_id=key[1]
        )

        def is_removed() -> bool:
            return self._asks(remove, 0, RemoveRaftVoterResponse) in (Errors.NONE, Errors.VOTER_NOT_FOUND)

        yield from until(is_removed, f"{node.name} is removed", READY_SECONDS_MAX)
        yield from during(seconds)
        listener = Listener(
            name=CONTROLLER_LISTENER, host="localhost", port=self.cluster.proxy_ports[node.node_id]
        )
        add = AddRaftVoterRequest(
            cluster_id=self.cluster.cluster_id,
            timeout_ms=int(CALL_SECONDS_MAX * 1000),
            voter_id=key[0],
            voter_directory_id=key[1],
            listeners=[listener],
        )

        def is_added() -> bool:
            return self._asks(add, 1, AddRaftVoterResponse) in (Errors.NONE, Errors.DUPLICATE_VOTER)

        yield from until(is_added, f"{node.name} is added", READY_SECONDS_MAX)

    def _asks(
        self,
        request: Message,
        version: int,
        response: type[RemoveRaftVoterResponse] | type[AddRaftVoterResponse],
    ) -> int | None:
        """The error code of the leader; None without a leader that answers."""
        leader_id = self.watch.leader()
        if leader_id is None:
            return None
        port = self.cluster.controller(leader_id).port
        try:
            with ControllerClient(port, client_id="chaos", timeout_s=CALL_SECONDS_MAX) as client:
                return client.call(request, version, response).error_code
        except OSError:
            return None

    def _clock_jump(self, node: Node, seconds: float) -> Steps:
        """The wall clock of one controller, there and back."""
        jump_s = self.rng.choice(JUMPS_SECONDS)
        self.where = f"{node.name} by {jump_s:g} s"
        clock = self.cluster.clocks[node]
        clock.jump(jump_s)
        yield from during(seconds + 1)
        clock.jump(0)


def _has_content(path: Path) -> bool:
    return (
        path.is_file() and path.suffix not in NOT_DAMAGED and path.name != ".lock" and path.stat().st_size > 0
    )


def _kind_of(path: Path) -> str:
    """The name of a file without the offset in it."""
    return f"*{path.suffix}" if path.name[:1].isdigit() else path.name


def _last_line(node: Node) -> str:
    lines = [line for line in node.log_file.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
