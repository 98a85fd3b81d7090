"""One process of a model broker, from registration to its end: Kafka's BrokerLifecycleManager."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from enum import Enum

from kraftctl.metadata.directory_id import LOST
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest, Listener
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import Uuid, random_uuid
from tests.support.simulator.brokers.broker_disk import BrokerDisk
from tests.support.simulator.brokers.broker_replicas import ReplicaManager
from tests.support.simulator.brokers.broker_world import BrokerWorld
from tests.support.simulator.brokers.controller_channel import ControllerChannel
from tests.support.simulator.brokers.directory_assignments import DirectoryAssignments
from tests.support.simulator.brokers.isr_changes import IsrChanges
from tests.support.simulator.brokers.metadata_reader import MetadataReader

STARTING_INTERVAL_US = 20_000
STOPPING_INTERVAL_US = 50_000
RECOVERY_US_MAX = 300_000
"""To load its logs, between having caught up and wanting to be unfenced."""
HEARTBEAT_VERSION_WITH_DIRECTORIES = 1
HEARTBEAT_VERSION_WITH_CORDONED = 2


class BrokerState(Enum):
    """Kafka's, without those that cannot be seen from outside."""

    STARTING = "starting"
    RECOVERY = "recovery"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class BrokerProcess:
    """`ended(clean)` is called when it has shut down. `epoch` is its broker epoch, -1 before registration."""

    def __init__(
        self, world: BrokerWorld, disk: BrokerDisk, rng: random.Random, ended: Callable[[], None]
    ) -> None:
        self._world = world
        self._disk = disk
        self._rng = rng
        self._ended = ended
        self._time = world.time
        self._counts: Counter[str] = world.counts
        self.state = BrokerState.STARTING
        self.epoch = -1
        self.stale_heartbeats = 0
        self._incarnation_id = random_uuid(rng)
        self._previous_epoch = disk.take_clean_shutdown_epoch()
        self._ready_to_unfence = False
        self._recovering = False
        self._client = f"broker-{disk.broker_id}"
        self._build()
        self._counts["incarnations"] += 1

    def _build(self) -> None:
        world, disk = self._world, self._disk
        profile = disk.profile
        self.reader = MetadataReader(
            broker_id=disk.broker_id,
            life=disk.lives,
            client=self._client,
            cluster_id=world.cluster_id,
            directory_id=disk.directories[0],
            bootstrap=world.bootstrap,
            static_voter_ids=world.static_voter_ids,
            profile=profile,
            image=disk.image,
            decoded=world.decoded,
            network=world.network,
            time=world.time,
            watch=world.watch,
            rng=self._rng,
            counts=self._counts,
            loaded=world.data.snapshot_loaded,
            damage_is_possible=world.damage_is_possible,
            news=self._image_changed,
            mix=world.mix,
        )
        self._channels = [
            ControllerChannel(name, self._client, profile, self.reader, world.network, world.time)
            for name in ("heartbeat", "forwarding", "alter-partition", "directory-assignments")
        ]
        self._heartbeats, self.forwarding, self._alter_partition, directory_assignments = self._channels
        isr_changes = IsrChanges(disk.broker_id, profile, world.time, self._send_isr_changes, self._counts)
        self.replicas = ReplicaManager(disk, world, isr_changes, self._rng)
        isr_changes.owner = self.replicas
        self._assignments = DirectoryAssignments(
            disk.broker_id, world.time, directory_assignments.send, self._counts
        )

    def start(self) -> None:
        disk = self._disk
        self._world.watch.started(disk.broker_id, disk.lives, disk.image.end_offset)
        self.reader.start()
        self._wait_for_metadata()
        self._later(self._world.mix.replication_interval_us, self._replicate)
        self._later(self._world.mix.allocate_interval_us, self._allocate_producer_ids)

    def _later(self, mean_us: int, call: Callable[[], None]) -> None:
        self._time.call_after(self._rng.randint(mean_us // 2, mean_us * 3 // 2), call)

    @property
    def is_alive(self) -> bool:
        return self.state is not BrokerState.ENDED

    def end(self) -> None:
        """The process is gone: nothing is sent any more, and its connections are closed."""
        self.state = BrokerState.ENDED
        self.reader.end()
        for channel in self._channels:
            channel.end()
        self.replicas.end()
        self._world.network.disconnect(self._client)

    def shut_down(self) -> None:
        """SIGTERM: leaves when the controller lets it."""
        if self.state is BrokerState.RUNNING:
            self.state = BrokerState.STOPPING
            self._counts["controlled_shutdowns_begun"] += 1
            self._heartbeat_now()

    def ask_to_be_fenced(self, duration_us: int) -> None:
        """As a broker does that is not ready to serve any more; afterwards it wants to be unfenced again."""
        if self.state is BrokerState.RUNNING:
            self.state = BrokerState.RECOVERY
            self._ready_to_unfence = False
            self._counts["asked to be fenced"] += 1
            self._heartbeat_now()
            self._time.call_after(duration_us, self._recovered)

    def lose_directory(self, directory: Uuid) -> None:
        """An IO error: everything in this log directory is offline, as the next heartbeat says."""
        replicas = self.replicas
        if directory in replicas.offline_directories:
            return
        self._counts["directories_lost"] += 1
        replicas.lose_directory(directory, self._time.now_us)
        for key in replicas.take_unassigned():
            if replicas.directory_of(key) == directory:
                self._assignments.assign(key, LOST)
        self._assignments.send()
        if self.epoch >= 0:
            self._heartbeat_now()

    def _wait_for_metadata(self) -> None:
        """Registers once it has read up to the high watermark: then it knows the finalized features."""
        if not self.is_alive:
            return
        if self.reader.caught_up and self._disk.image.published_offset >= 0:
            self._register()
        else:
            self._time.call_after(STARTING_INTERVAL_US, self._wait_for_metadata)

    def _register(self) -> None:
        if not self.is_alive:
            return
        disk = self._disk
        request = BrokerRegistrationRequest(
            broker_id=disk.broker_id,
            cluster_id=self._world.cluster_id,
            incarnation_id=self._incarnation_id,
            listeners=[Listener(name="PLAINTEXT", host=self._client, port=9092)],
            features=disk.profile.feature_ranges(),
            rack=disk.rack,
            log_dirs=sorted(disk.directories),
            previous_broker_epoch=self._previous_epoch,
        )
        self._heartbeats.send(request, self._registered, self._world.mix.heartbeat_interval_us)

    def _registered(self, response: Message | None) -> None:
        if not self.is_alive:
            return
        error = -1 if response is None else response.error_code  # type: ignore[attr-defined]
        if error != Errors.NONE:
            name = "unanswered" if response is None else Errors(error).name
            self._counts[f"registration {name}"] += 1
            self._time.call_after(self._world.mix.heartbeat_interval_us, self._register)
            return
        assert isinstance(response, BrokerRegistrationResponse)
        assert response.broker_epoch > self._disk.last_epoch, (
            f"broker {self._disk.broker_id} had epoch {self._disk.last_epoch} and is now given"
            f" {response.broker_epoch}: broker epochs only rise"
        )
        self.epoch = self._disk.last_epoch = response.broker_epoch
        self._counts["registrations"] += 1
        self._heartbeat()

    def _heartbeat_now(self) -> None:
        """In addition to the regular ones."""
        if self.epoch >= 0:
            self._send_heartbeat(self._extra_answered)

    def _extra_answered(self, response: Message | None) -> None:
        if self.is_alive and isinstance(response, BrokerHeartbeatResponse) and response.error_code == 0:
            self._follow_answer(response)

    def _heartbeat(self) -> None:
        if self.is_alive:
            self._send_heartbeat(self._heartbeat_answered)

    def _send_heartbeat(self, answered: Callable[[Message | None], None]) -> None:
        request = BrokerHeartbeatRequest(
            broker_id=self._disk.broker_id,
            broker_epoch=self.epoch,
            current_metadata_offset=max(0, self._disk.image.published_offset),
            want_fence=not self._ready_to_unfence,
            want_shut_down=self.state is BrokerState.STOPPING,
        )
        if self._disk.profile.version(BrokerHeartbeatRequest) >= HEARTBEAT_VERSION_WITH_DIRECTORIES:
            request.offline_log_dirs = list(self.replicas.offline_directories)
        if self._disk.profile.version(BrokerHeartbeatRequest) >= HEARTBEAT_VERSION_WITH_CORDONED:
            request.cordoned_log_dirs = self._disk.cordoned
        self._counts["heartbeats"] += 1
        self._heartbeats.send(request, answered, self._world.mix.heartbeat_interval_us)

    def _heartbeat_answered(self, response: Message | None) -> None:
        if not self.is_alive:
            return
        interval_us = self._world.mix.heartbeat_interval_us
        if isinstance(response, BrokerHeartbeatResponse):
            if response.error_code == Errors.NONE:
                self.stale_heartbeats = 0
                self._follow_answer(response)
                if self.state is BrokerState.STARTING:
                    interval_us = STARTING_INTERVAL_US
                elif self.state is BrokerState.STOPPING:
                    interval_us = STOPPING_INTERVAL_US
            else:
                self.stale_heartbeats += response.error_code == Errors.STALE_BROKER_EPOCH
                self._counts[f"heartbeat {Errors(response.error_code).name}"] += 1
        if self.is_alive:
            self._time.call_after(interval_us, self._heartbeat)

    def _follow_answer(self, response: BrokerHeartbeatResponse) -> None:
        match self.state:
            case BrokerState.STARTING:
                if response.is_caught_up and self.reader.caught_up:
                    self.state = BrokerState.RECOVERY
                    self._begin_recovery()
            case BrokerState.RECOVERY:
                if not response.is_fenced:
                    self.state = BrokerState.RUNNING
                    self._counts["unfenced"] += 1
            case BrokerState.STOPPING:
                if response.should_shut_down:
                    self._counts["controlled_shutdowns"] += 1
                    self._disk.write_clean_shutdown(self.epoch, self.replicas.offline_directories)
                    self._ended()
            case BrokerState.RUNNING | BrokerState.ENDED:
                pass

    def _begin_recovery(self) -> None:
        """The metadata is there: load the logs. What an unclean shutdown took is lost by now."""
        if self._previous_epoch < 0 and self._disk.image.elr_at_registration and self._world.tails_are_lost:
            self.replicas.lose_tails()
        self.replicas.begin(self.epoch, self._time.now_us)
        self._assign_directories()
        self._time.call_after(self._rng.randint(0, RECOVERY_US_MAX), self._recovered)

    def _recovered(self) -> None:
        if self.is_alive:
            self._ready_to_unfence = True
            self._heartbeat_now()

    def _image_changed(self) -> None:
        self.replicas.publish(self._time.now_us)
        self._assign_directories()

    def _send_isr_changes(self, request: Message, answered: Callable[[Message | None], None]) -> None:
        late_us_max = self._world.mix.isr_delay_us_max
        if late_us_max == 0:
            self._alter_partition.send(request, answered)
            return

        def send() -> None:
            if self.is_alive:
                self._alter_partition.send(request, answered)

        self._time.call_after(self._rng.randint(0, late_us_max), send)

    def _assign_directories(self) -> None:
        for key in self.replicas.take_unassigned():
            directory = self.replicas.directory_of(key)
            if directory is not None:
                self._assignments.assign(key, directory)
        self._assignments.epoch = self.epoch
        self._assignments.send()

    def _replicate(self) -> None:
        if self.is_alive:
            self.replicas.run_round(self._time.now_us)
            self._later(self._world.mix.replication_interval_us, self._replicate)

    def _allocate_producer_ids(self) -> None:
        if not self.is_alive:
            return
        if self.state is BrokerState.RUNNING:
            request = AllocateProducerIdsRequest(broker_id=self._disk.broker_id, broker_epoch=self.epoch)
            self.forwarding.send(request, self._allocated, self._world.mix.heartbeat_interval_us)
        self._later(self._world.mix.allocate_interval_us, self._allocate_producer_ids)

    def _allocated(self, response: Message | None) -> None:
        if not isinstance(response, AllocateProducerIdsResponse) or response.error_code != Errors.NONE:
            return
        start = response.producer_id_start
        blocks = self._world.data.producer_id_blocks
        overlapping = [other for other in blocks if abs(other - start) < response.producer_id_len]
        assert not overlapping, (
            f"ProducerIdsAreUnique: block {start} is given to broker {self._disk.broker_id}, and"
            f" {overlapping[0]} was to {blocks[overlapping[0]]}"
        )
        blocks[start] = self._disk.broker_id
        self._counts["producer_id_blocks"] += 1
