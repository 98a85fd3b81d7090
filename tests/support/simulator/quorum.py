"""A cluster that a test controls step by step: no faults but those of the test, and no records but its own.

Besides those: each epoch has a LeaderChange record, and each controller registers itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.forced_removal import force
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.update_raft_voter_request import (
    KRaftVersionFeature,
    UpdateRaftVoterRequest,
)
from kraftctl_protocol.generated.update_raft_voter_request import Listener as UpdatedListener
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.message import Message
from tests.support.file_states import Aftermath
from tests.support.simulator.checks.checks import Checks
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.cluster.cluster import CLUSTER_ID, LISTENER, Cluster, host
from tests.support.simulator.cluster.direct_client import DirectClient
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.faults.operator import Operator

QUIET = {
    "metadata.max.idle.interval.ms": "0",
    "metadata.max.retention.bytes": "0",
    "controller.quorum.fetch.snapshot.max.bytes": "2000",
}
"""No NoOpRecords; each snapshot replaces the log before it, and is fetched in many slices."""

SETTLED_MS = 6_000


class Question:
    """A request of a tool on the same machine: nothing happens to it on its way."""

    def __init__(self, client: DirectClient, request: Message) -> None:
        self.request = request
        self._client = client
        self._call_id = client.send(request)

    @property
    def response(self) -> Message | None:
        return self._client.answers.get(self._call_id)

    @property
    def answer(self) -> Message:
        response = self.response
        assert response is not None, f"no response to {self.request}"
        return response

    @property
    def error(self) -> Errors:
        return Errors(getattr(self.answer, "error_code"))  # noqa: B009


class Unchecked(Checks):
    """For disks that lose what they had confirmed: no invariant could hold."""

    def __init__(self, config: ControllerConfig) -> None:
        super().__init__(config)
        self.stepped = lambda process, event: None
        self.before = lambda process, effect: None

    def started(self, process: ProcessView) -> None: ...

    def ended(self, process: ProcessView) -> None: ...

    def stopped(self, process: ProcessView) -> None: ...


class Quorum(Cluster):
    """Files have to be attached before `start`. `trace` has the lines of everything that happens."""

    def __init__(
        self,
        seed: int,
        voter_ids: Sequence[int],
        observer_ids: Sequence[int] = (),
        *,
        dynamic: bool = True,
        properties: dict[str, str] | None = None,
        checked: bool = True,
    ) -> None:
        super().__init__(
            seed, voter_ids, observer_ids, dynamic=dynamic, properties=QUIET | (properties or {})
        )
        self.operator = Operator(self)
        self.trace: list[str] = []
        self._written = 0
        self._tools = {node_id: DirectClient(process) for node_id, process in self.processes.items()}
        for process in self.processes.values():
            process.trace = self.trace
            if not checked:
                process.checks = Unchecked(process.config)

    def settle(self) -> ControllerProcess:
        """Run until a leader is active and all controllers are registered; returns the leader."""
        self.run_for(SETTLED_MS)
        return self.led()

    def led(self) -> ControllerProcess:
        """By which leader."""
        leader = self.leader()
        assert leader is not None, "no leader"
        return leader

    def followers(self) -> list[ControllerProcess]:
        """The voters, as configured, that do not lead; also those that are down."""
        leader_id = self.led().node_id
        return [self.processes[voter_id] for voter_id in self.voter_ids if voter_id != leader_id]

    def durable_end(self, process: ControllerProcess) -> int:
        """Up to where its node has learned that its log is on the disk."""
        return self.checks.quorum.running[process.node_id].log.durable_end

    def lines(self, node_id: int | None = None, since: int = 0) -> list[str]:
        """The words of the trace after the time: `send ...`, `event ...`; of one node without its id."""
        found = (line.split(" ", 2) for line in self.trace[since:])
        if node_id is None:
            return [f"{node} {rest}" for _, node, rest in found]
        return [rest for _, node, rest in found if node == str(node_id)]

    # Requests.

    def ask(self, process: ControllerProcess, request: Message) -> Question:
        """The response may come later."""
        return Question(self._tools[process.node_id], request)

    def append(self, leader: ControllerProcess, count: int) -> None:
        """Write `count` records, in one batch, of which the image keeps each."""
        entries: list[EntryData] = []
        for _ in range(count):
            self._written += 1
            entity = EntityData(entity_type="client-id", entity_name=f"client {self._written}")
            entries.append(EntryData(entity=[entity], ops=[OpData(key="producer_byte_rate", value=1.0)]))
        before = leader.raft.end_offset
        self.ask(leader, AlterClientQuotasRequest(entries=entries))
        assert leader.raft.end_offset == before + count, "not written"

    def add_voter(self, voter_id: int, *, ack_when_committed: bool = True) -> Question:
        """Ask the leader."""
        key = self._key(voter_id)
        request = AddRaftVoterRequest(
            cluster_id=CLUSTER_ID,
            timeout_ms=30_000,
            voter_id=key.id,
            voter_directory_id=key.directory_id,
            listeners=[Listener(name=LISTENER, host=host(voter_id), port=self.ports[voter_id])],
            ack_when_committed=ack_when_committed,
        )
        return self.ask(self.led(), request)

    def remove_voter(self, voter_id: int, *, forced: bool = False) -> Question:
        """Ask the leader."""
        key = self._key(voter_id)
        request = RemoveRaftVoterRequest(
            cluster_id=CLUSTER_ID, voter_id=key.id, voter_directory_id=key.directory_id
        )
        if forced:
            force(request)
        return self.ask(self.led(), request)

    def update_voter(self, voter_id: int, port: int, directory_id: bytes | None = None) -> Question:
        """As the voter itself would report to the leader that it listens at this port."""
        leader = self.led()
        request = UpdateRaftVoterRequest(
            cluster_id=CLUSTER_ID,
            current_leader_epoch=leader.raft.epoch,
            voter_id=voter_id,
            voter_directory_id=self.directory_ids[voter_id] if directory_id is None else directory_id,
            listeners=[UpdatedListener(name=LISTENER, host=host(voter_id), port=port)],
            kraft_version_feature=KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
        )
        return self.ask(leader, request)

    def _key(self, node_id: int) -> ReplicaKey:
        return ReplicaKey(node_id, self.directory_ids[node_id])

    # What happens to processes.

    def crash(self, process: ControllerProcess) -> None:
        """The power fails: what was not forced to the disk is lost."""
        process.lose_power(Aftermath.STRICT)

    def forget(self, process: ControllerProcess) -> None:
        """The power fails, and the disk comes back with the identity alone: without log and votes."""
        if process.lifetime is not None:
            self.crash(process)
        self.operator.lose_log(process)

    def store_election(self, process: ControllerProcess, state: ElectionState) -> None:
        """Replace the quorum-state of a process that is down."""
        QuorumStateStore(process.disk.root / PARTITION_DIRECTORY).write(state)
        self.checks.quorum.replicas[process.key].stored = state

    def restart_all(self, *, but: Sequence[ControllerProcess] = ()) -> None:
        for process in self.down():
            if process not in but:
                process.start()

    def take_snapshot(self, leader: ControllerProcess) -> None:
        """Of what is committed now, or a little more; the log before it is deleted."""
        wanted = leader.raft.high_watermark
        for _ in range(20):
            leader.make_snapshot_due()
            self.append(leader, 1)
            self.run_for(50)
            if leader.raft.log_start_offset >= wanted:
                return
        raise AssertionError("no snapshot")

    def follower_behind_a_snapshot(self) -> ControllerProcess:
        """One that is down and has lost its log: it has to download a snapshot of 2,000 records."""
        leader, behind = self.led(), self.followers()[0]
        for _ in range(5):
            self.append(leader, 400)
            self.run_for(100)
        self.take_snapshot(leader)
        self.forget(behind)
        return behind

    def agree(self) -> bool:
        """Whether all processes run and follow, with everything committed that any of them has."""
        leader = self.led()
        return not self.down() and all(
            process.raft.leader_id == leader.node_id
            and process.partition.recovering_epoch is None
            and process.raft.high_watermark == leader.raft.end_offset == process.raft.end_offset
            for process in self.running()
        )

    def end_well(self) -> None:
        """Without faults all replicas end with the same log, and more is committed."""
        self.heal()
        self.restart_all()
        self.run_until(lambda: self.leader() is not None, 60_000, "EventuallyLeaderElected")
        committed = self.checks.committed_end
        self.run_until(lambda: self.leader() is not None and self.agree(), 60_000, "NoLogDivergence")
        self.append(self.led(), 1)
        self.run_until(lambda: self.leader() is not None and self.agree(), 60_000, "ValuesEventuallyAcked")
        self.checks.final(self.running(), [], committed)


class StartQuorum(Protocol):
    """Start a quorum whose files stay attached until the test ends; settled, unless `settled` is False."""

    def __call__(
        self,
        seed: int,
        voter_ids: Sequence[int],
        observer_ids: Sequence[int] = (),
        *,
        dynamic: bool = True,
        properties: dict[str, str] | None = None,
        settled: bool = True,
        checked: bool = True,
    ) -> Quorum: ...


@contextmanager
def quorums() -> Iterator[StartQuorum]:
    """One quorum at a time."""
    with ExitStack() as attached:

        def start(
            seed: int,
            voter_ids: Sequence[int],
            observer_ids: Sequence[int] = (),
            *,
            dynamic: bool = True,
            properties: dict[str, str] | None = None,
            settled: bool = True,
            checked: bool = True,
        ) -> Quorum:
            quorum = Quorum(
                seed, voter_ids, observer_ids, dynamic=dynamic, properties=properties, checked=checked
            )
            attached.enter_context(quorum.files.attach())
            quorum.start()
            if settled:
                quorum.settle()
            return quorum

        yield start
