"""Who runs a simulated cluster: restarts, repairs and replaces its controllers, and changes its voters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kraftctl.metadata import features
from kraftctl.raft.forced_removal import force
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.server.controller_server import open_partition
from kraftctl.storage.durable_files import fsync_directory, replace_file
from kraftctl.storage.end_of_halt import keep_log
from kraftctl.storage.halt import FILE_NAME as HALT_FILE
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import UpdateFeaturesResponse
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.message import Message
from tests.support.simulator.cluster.cluster import CLUSTER_ID, LISTENER, Cluster, host
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.disks.backup import Backup
from tests.support.simulator.disks.disk_faults import Damage
from tests.support.simulator.faults.later_epochs import LaterEpochs
from tests.support.simulator.faults.moves import Moves

CLIENT = "operator"
CHECK_MS = 700
QUORUM_STATE = "quorum-state"
RECOVERY_POINT = "metadata-recovery-point"
IDENTITY = ("meta.properties", "bootstrap.checkpoint", RECOVERY_POINT)


class Operator:
    """`damaged` has the machines that lost something forced to the disk: only they may refuse to start. They
    are repaired as docs/operations/lost-disk.md says. Of them, `rotten` may hold bytes that cannot be read.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.deletes_votes = False
        """Whether quorum-state is deleted before each start."""
        self.damaged: set[int] = set()
        self.rotten: set[int] = set()
        self._backups: dict[int, Backup] = {}
        self._failures: dict[int, str] = {}
        self._lost_voters: dict[int, list[ReplicaKey]] = {}
        """By node id: replicas whose directory is gone for good. A new one of the node takes their place."""
        self.later_epochs = LaterEpochs(cluster, self._format_anew)
        self._moves = Moves(cluster, self.start)
        self._misled: set[tuple[int, int]] = set()
        self._in_flight = False
        self._at_next_election: Callable[[], object] | None = None
        cluster.time.call_after(CHECK_MS * 1000, self._look_after)

    # Starting.

    def start(self, process: ControllerProcess) -> None:
        """Start it; if it refuses, repair it first. AssertionError if it refuses without a reason."""
        if self._failures.pop(process.node_id, None) is not None:
            # It reads what is damaged again and again: its disk is replaced.
            self._repair(process)
        self._delete_votes(process)
        self._end_halt(process)
        refusal = self._cluster.restart(process)
        if not refusal:
            return
        assert process.node_id in self.damaged, f"NoIllegalState: {process.node_id} does not start: {refusal}"
        self._cluster.counts["starts refused"] += 1
        self._repair(process)
        again = self._cluster.restart(process)
        assert not again, f"NoIllegalState: {process.node_id} does not start after the repair: {again}"

    def _delete_votes(self, process: ControllerProcess) -> None:
        """As a supervisor does that begins each start with that: `rm`, which forces nothing."""
        path = process.disk.root / PARTITION_DIRECTORY / QUORUM_STATE
        if self.deletes_votes and path.exists():
            path.unlink()
            if (process.disk.root / RECOVERY_POINT).exists():
                self._cluster.checks.deleted_votes(self._key(process))
            else:
                self.lost_votes(process)  # of an adopted directory: nothing else knows them
            self._cluster.counts["quorum-states deleted"] += 1

    def _end_halt(self, process: ControllerProcess) -> None:
        """As an operator who has found out that its log is right. Without that it does not start."""
        if not (process.disk.root / HALT_FILE).exists():
            return
        refusal = self._cluster.restart(process)
        assert "has halted since" in refusal, f"NoIllegalState: {process.node_id} has halted, and starts"
        keep_log(process.disk.root, self._key(process))
        self._cluster.counts["halts ended"] += 1

    def failed(self, process: ControllerProcess, error: BaseException) -> None:
        """A process ended with this failure. AssertionError unless its own disk failed it, or is damaged."""
        is_misled = (process.node_id, process.life) in self._misled
        to_blame = process.disk_faults_in_life > 0 or process.node_id in self.damaged or is_misled
        assert to_blame, f"NoIllegalState: {process.node_id} failed: {error}"
        self._cluster.counts["processes failed"] += 1
        if process.node_id in self.damaged:
            self._failures[process.node_id] = str(error)

    def misled(self, process: ControllerProcess) -> None:
        """Its leader seems to have lost committed records: it may end itself, once."""
        self._misled.add((process.node_id, process.life))
        self._cluster.checks.misled(process.key)

    def replace_rotten_disks(self) -> None:
        """Before the end: what cannot be read might show only at a later read."""
        for node_id in sorted(self.rotten):
            process = self._cluster.processes[node_id]
            if process.lifetime is not None:
                process.kill()
            self._repair(process)
            self._failures.pop(node_id, None)
            self.start(process)

    def _format_anew(self, process: ControllerProcess) -> None:
        process.kill()
        self.lose_directory(process)
        self.start(process)

    @property
    def has_open_changes(self) -> bool:
        """Whether a lost voter is still in the voter set, its successor is not, or one that moved is at its
        former address there.
        """
        return bool(self._lost_voters) or self._moves.is_open

    def _repair(self, process: ControllerProcess) -> None:
        """In a static quorum with its identity: it fetches everything again before it votes."""
        if self._is_voter(process) and not self._cluster.dynamic:
            self.lose_log(process)
        else:
            self.lose_directory(process)

    def _is_voter(self, process: ControllerProcess) -> bool:
        return process.node_id in self._cluster.voter_ids

    # What a machine loses. Each returns whether there was something to lose; the process is down.

    def lose_log(self, process: ControllerProcess) -> bool:
        """Its log, snapshots and votes; not its identity, nor what it knows that it promised."""
        self.rotten.discard(process.node_id)
        process.never_loses_power = False
        process.disk.wipe(keep=IDENTITY)
        self._cluster.checks.forgot(self._key(process), log=True, votes=True)
        return True

    def _key(self, process: ControllerProcess) -> ReplicaKey:
        return ReplicaKey(process.node_id, self._cluster.directory_ids[process.node_id])

    def lose_votes(self, process: ControllerProcess, *, had_other: bool) -> bool:
        """`had_other`: as after another controller on this directory, which deletes the witness."""
        path = process.disk.root / PARTITION_DIRECTORY / QUORUM_STATE
        if not path.exists():
            return False
        path.unlink()
        if had_other:
            path.with_name(WITNESS).unlink(missing_ok=True)
        fsync_directory(path.parent)
        self.lost_votes(process)
        return True

    def lose_directory(self, process: ControllerProcess) -> bool:
        """The identity too: the machine gets an empty directory, and joins as a new replica."""
        node_id = process.node_id
        if self._is_voter(process):
            lost = ReplicaKey(node_id, self._cluster.directory_ids[node_id])
            self._lost_voters.setdefault(node_id, []).append(lost)
            self.later_epochs.are_possible = True
        self._backups.pop(node_id, None)
        self.rotten.discard(node_id)
        process.never_loses_power = False
        self._cluster.checks.replaced(self._key(process))
        process.disk.wipe()
        self._cluster.format(node_id, joins=True)
        return True

    def lose_tail(self, process: ControllerProcess, end_offset: int) -> None:
        """The end of its log, and that it promised that; its votes are there. As on a disk that confirmed
        what it does not keep.
        """
        process.heal_disk()
        self.damaged.add(process.node_id)
        meta = read_meta_properties(process.disk.root)
        assert meta is not None
        partition = open_partition(process.config, meta, lambda: self._cluster.time.now_ms)
        point = partition.recovery_point.point
        assert point is not None
        partition.committed_end = 0
        partition.recovery_point.begin(point._replace(committed_epoch=0, committed_end=0))
        partition.truncate_log(end_offset)
        partition.close()
        self._cluster.checks.lost_tail(self._key(process), end_offset)

    def rotted(self, process: ControllerProcess, damage: Damage) -> None:
        """Bytes that had been forced are not what they were."""
        self.rotten.add(process.node_id)
        process.never_loses_power = True  # until its disk is replaced
        self._cluster.checks.damaged(self._key(process), damage.name)

    def back_up(self, process: ControllerProcess) -> None:
        self._backups[process.node_id] = process.disk.save()

    def restore_old_log(self, process: ControllerProcess) -> bool:
        """A backup of log and votes; what it knows that it promised is of now."""
        backup = self._backups.pop(process.node_id, None)
        if backup is None:
            return False
        path = process.disk.root / RECOVERY_POINT
        promised = path.read_bytes()
        process.disk.restore(backup)
        replace_file(path, promised)
        self._cluster.checks.forgot(self._key(process), log=True, votes=True)
        return True

    def restore_old_votes(self, process: ControllerProcess) -> bool:
        """A backup of quorum-state alone."""
        name = f"{PARTITION_DIRECTORY}/{QUORUM_STATE}"
        backup = self._backups.get(process.node_id)
        content = None if backup is None else backup.content(name)
        if content is None:
            return False
        replace_file(process.disk.root / name, content)
        self.lost_votes(process)
        return True

    def lost_votes(self, process: ControllerProcess) -> None:
        """Its quorum-state is not the one that it stored last."""
        self._cluster.checks.forgot(self._key(process), log=False, votes=True)

    # Voters.

    def add_voter(self, node_id: int, *, waits: bool = True, overlaps: bool = False) -> bool:
        """Ask the leader; it may refuse, or the response may be lost. If it `waits`, then for the commit. It
        `overlaps` if another request may be unanswered.
        """
        key = ReplicaKey(node_id, self._cluster.directory_ids[node_id])
        return self._ask_leader(
            AddRaftVoterRequest(
                cluster_id=CLUSTER_ID,
                timeout_ms=3_000,
                voter_id=key.id,
                voter_directory_id=key.directory_id,
                listeners=[Listener(name=LISTENER, host=host(node_id), port=self._cluster.ports[node_id])],
                ack_when_committed=waits,
            ),
            overlaps=overlaps,
        )

    def remove_voter(
        self, node_id: int, key: ReplicaKey | None = None, *, overlaps: bool = False, forced: bool = False
    ) -> bool:
        """`forced`: also where those that remain are no majority that works."""
        key = key or ReplicaKey(node_id, self._cluster.directory_ids[node_id])
        request = RemoveRaftVoterRequest(
            cluster_id=CLUSTER_ID, voter_id=key.id, voter_directory_id=key.directory_id
        )
        if forced:
            force(request)
        return self._ask_leader(request, overlaps=overlaps)

    def upgrade_kraft_version(self) -> bool:
        """Ask the leader for kraft.version 1; it may refuse, or the response may be lost."""
        update = FeatureUpdateKey(feature=features.KRAFT_VERSION, max_version_level=1)
        return self._ask_leader(UpdateFeaturesRequest(feature_updates=[update]))

    def has_upgraded(self) -> bool:
        """Whether kraft.version is 1; if not, ask for it."""
        leader = self._cluster.leader()
        if leader is None:
            return False
        if leader.raft.kraft_version == 0:
            self.upgrade_kraft_version()
        return leader.raft.kraft_version > 0

    def move_voter(self, node_id: int) -> bool:
        """Restart it with another port."""
        return self._moves.move(node_id)

    def at_next_election(self, call: Callable[[], object]) -> None:
        """As soon as a leader is elected, before it can have committed anything."""
        self._at_next_election = call

    def elected(self) -> None:
        """A process writes that it leads."""
        call, self._at_next_election = self._at_next_election, None
        if call is not None:
            self._cluster.time.call_after(1_000, partial(_carry_out, call))

    def _ask_leader(self, request: Message, *, overlaps: bool = False) -> bool:
        leader = self._cluster.leader()
        if leader is None or (self._in_flight and not overlaps):
            return False
        self._in_flight = True
        channel = "more voters" if overlaps else "voters"
        self._cluster.clients.call(CLIENT, leader.node_id, request, self._answered, channel=channel)
        return True

    def _answered(self, response: Message | None) -> None:
        self._in_flight = False
        if isinstance(response, UpdateFeaturesResponse):
            refused = response.error_code != 0
            self._cluster.counts["upgrades refused" if refused else "upgrades to kraft.version 1"] += 1
            return
        if response is not None and getattr(response, "error_code", -1) == 0:
            self._cluster.counts["voters changed"] += 1

    def _look_after(self) -> None:
        """The next step of each replacement: the lost voter leaves, then the new replica joins."""
        self._cluster.time.call_after(CHECK_MS * 1000, self._look_after)
        self._moves.look_after()
        leader = self._cluster.leader()
        if leader is None:
            return
        voters = leader.raft.voter_set
        for node_id, lost in list(self._lost_voters.items()):
            present = ReplicaKey(node_id, self._cluster.directory_ids[node_id])
            leaving = [key for key in lost if voters.is_voter(key)]
            if voters.is_voter(present):
                del self._lost_voters[node_id]
            elif self._cluster.processes[node_id].config.controller_quorum_auto_join_enable:
                continue
            elif leaving:
                self.remove_voter(node_id, leaving[0])
            else:
                self.add_voter(node_id)


def _carry_out(call: Callable[[], object]) -> None:
    call()
