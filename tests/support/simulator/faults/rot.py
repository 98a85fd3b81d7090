"""What disks, backups and other releases do to the files of one machine, aimed at what a start has to notice.

All of it is injected into machines that `Operator` may have to repair, except for damaged downloads and
processes that end twice, which a node has to bear.
"""

from __future__ import annotations

import json
import random

from kraftctl.raft.effects import FlushLog
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import NO_DIRECTORY_ID
from kraftctl.storage.durable_files import fsync_directory, replace_file
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.log_file_names import LOG_SUFFIX, PARTITION_DIRECTORY, QUORUM_STATE
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import uuid_to_string
from tests.support.file_states import Aftermath
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.watching import PlannedEnd
from tests.support.simulator.disks.disk_faults import Damage
from tests.support.simulator.faults import log_damage
from tests.support.simulator.faults.operator import RECOVERY_POINT, Operator

SNAPSHOTS = tuple(f"{digit}.checkpoint" for digit in range(10))
"""How the names of snapshots end, but not that of bootstrap.checkpoint."""

NO_DIRECTORY = uuid_to_string(NO_DIRECTORY_ID)

STALL_US = 300_000
STOPPED_US = 6_000_000
"""Until then, a process that was asked to stop has ended."""


class Rot:
    """The happenings that are made of these, by their names in a plan. `rng` is that of the happening."""

    def __init__(self, cluster: Cluster, operator: Operator) -> None:
        self._cluster = cluster
        self._operator = operator

    # Of a machine that is down; they return whether there was something to damage.

    def lose_file(self, process: ControllerProcess, rng: random.Random) -> bool:
        """A segment, or a snapshot."""
        kinds = rng.choice(((LOG_SUFFIX,), SNAPSHOTS))
        names = [name for name in process.disk.names() if name.endswith(kinds)]
        if not names:
            return False
        name = rng.choice(names)
        path = process.disk.root / name
        path.unlink()
        fsync_directory(path.parent)
        self._rotted(process, Damage(name, 0, "loss"))
        return True

    def lose_end_of_log(self, process: ControllerProcess, rng: random.Random) -> bool:
        """Of what was flushed last."""
        damage = log_damage.lose_last_batch(process.disk, rng)
        if damage is not None:
            self._rotted(process, damage)
        return damage is not None

    def restore_old_votes(self, process: ControllerProcess, rng: random.Random) -> bool:
        """quorum-state alone comes from a backup, or is as it was before the last vote."""
        path = process.disk.root / PARTITION_DIRECTORY / QUORUM_STATE
        if not path.exists() or process.node_id in self._operator.rotten:
            return False
        if rng.random() < 0.5:
            return self._operator.restore_old_votes(process)
        state = QuorumStateStore(path.parent).read()
        assert state is not None
        before = ElectionState(epoch=state.epoch, data_version=state.data_version)
        QuorumStateStore(path.parent).write(before)
        self._operator.lost_votes(process)
        return True

    def replace_votes(self, process: ControllerProcess, rng: random.Random) -> bool:
        """A later release has written quorum-state; what it holds means something else (KAFKA-15412)."""
        path = process.disk.root / PARTITION_DIRECTORY / QUORUM_STATE
        if not path.exists() or process.node_id in self._operator.rotten:
            return False
        fields = json.loads(path.read_bytes())
        fields |= {"data_version": rng.randint(2, 9), "leaderId": -1, "votedId": -1}
        replace_file(path, json.dumps(fields | {"votedDirectoryId": NO_DIRECTORY}).encode())
        self._rotted(process, Damage(f"{PARTITION_DIRECTORY}/{QUORUM_STATE}", 0, "a later version"))
        return True

    def _rotted(self, process: ControllerProcess, damage: Damage) -> None:
        process.note(f"damaged: {damage}")
        self._operator.rotted(process, damage)

    # Of a machine that runs.

    def adopt_directory(self, process: ControllerProcess, rng: random.Random) -> bool:
        """It starts as on a directory of Kafka's, without a recovery point; mostly with a damaged log."""
        is_sound = process.node_id not in self._operator.rotten and not process.never_loses_power
        if process.lifetime is None or not is_sound or process.partition.recovering_epoch is not None:
            return False
        process.kill()
        process.heal_disk()
        path = process.disk.root / RECOVERY_POINT
        path.unlink()
        fsync_directory(path.parent)
        self._operator.damaged.add(process.node_id)
        if process.disk.state(f"{PARTITION_DIRECTORY}/{QUORUM_STATE}") is None:
            # Killed before its first write ended: a directory that has lost a vote looks the same.
            self._operator.lost_votes(process)
        if rng.random() < 0.8:
            damage = log_damage.damage_the_middle(process.disk, rng)
            if damage is not None:
                self._rotted(process, damage)
        self._operator.start(process)
        return True

    def stop_and_lose_end(self, process: ControllerProcess, rng: random.Random) -> bool:
        """It stops in order while its disk stalls, and loses a part of what it flushed last."""
        if process.lifetime is None:
            return False
        lifetime = process.lifetime
        process.hold_flushes()

        def ended() -> None:
            process.release_flushes()
            process.heal_disk()
            if process.why_down == "stopped":
                self.lose_end_of_log(process, rng)

        def stop() -> None:
            if process.lifetime is lifetime:
                process.on_closed = ended
                process.stop()

        self._cluster.time.call_after(STALL_US, stop)
        self._cluster.time.call_after(STALL_US + STOPPED_US, process.release_flushes)
        return True

    # Of any machine, without a loss.

    def damage_download(self, process: ControllerProcess, rng: random.Random) -> bool:
        """One bit of the next part of a snapshot that it fetches."""
        bit = rng.random()

        def flip(response: Message) -> None:
            if not isinstance(response, FetchSnapshotResponse):
                return
            for partition in (partition for topic in response.topics for partition in topic.partitions):
                data = bytearray(partition.unaligned_records or b"")
                if data:
                    at = int(bit * len(data) * 8)
                    data[at // 8] ^= 1 << at % 8
                    partition.unaligned_records = bytes(data)
                    process.forge = None
                    self._cluster.counts["downloads damaged"] += 1

        process.forge = flip
        return True

    def end_twice(self, process: ControllerProcess, rng: random.Random) -> bool:
        """It is killed while it flushes; soon after its next start the power fails."""
        if process.lifetime is None or process.never_loses_power:
            return False
        flush_us, next_us = rng.choice((0, 50, 200, 1_000)), rng.choice((0, 500, 2_000, 10_000))

        def again() -> None:
            if process.lifetime is None:
                process.heal_disk()
                self._operator.start(process)
                lifetime = process.lifetime
                assert lifetime is not None
                lifetime.after(next_us, lambda: process.lose_power(Aftermath.STRICT))

        def end() -> None:
            self._cluster.counts["ended twice"] += 1
            process.kill()
            self._cluster.time.call_after(1, again)

        def planned() -> None:
            process.watched.planned_end = None
            assert process.lifetime is not None
            process.lifetime.after(flush_us, end)

        process.watched.planned_end = PlannedEnd(1, FlushLog, before=False, end=planned)
        return True
