"""A model broker: one process after another on the same disk, and what happens to them."""

from __future__ import annotations

import random

from kraftctl_protocol.uuids import random_uuid
from tests.support.simulator.brokers.broker_disk import BrokerDisk
from tests.support.simulator.brokers.broker_image import BrokerImage
from tests.support.simulator.brokers.broker_process import BrokerProcess, BrokerState
from tests.support.simulator.brokers.broker_profiles import KAFKA_4_3, BrokerProfile
from tests.support.simulator.brokers.broker_world import BrokerWorld
from tests.support.simulator.brokers.metadata_reader import NO_LEADER

STALE_HEARTBEATS_MAX = 3
"""Then an operator restarts the broker: it has been unregistered, and would never notice."""
DOWN_US_MIN = 10_000
PAUSE_US_MAX = 4_000_000


class ModelBroker:
    """`start` begins its life, `calm` ends its misfortunes. Everything random comes from `rng`."""

    def __init__(
        self,
        broker_id: int,
        world: BrokerWorld,
        rng: random.Random,
        *,
        profile: BrokerProfile = KAFKA_4_3,
        rack: str | None = None,
    ) -> None:
        self.broker_id = broker_id
        self._world = world
        self._rng = rng
        directories = [random_uuid(rng) for _ in range(rng.randint(1, world.mix.directories_max))]
        image = BrokerImage(broker_id, world.data.changed)
        self.disk = BrokerDisk(broker_id, profile, directories, image, rack)
        self._has_fates = True
        self._stays_away = False
        self.process: BrokerProcess | None = None

    @property
    def is_running(self) -> bool:
        """Registered, caught up and unfenced, as far as the broker knows."""
        return self.process is not None and self.process.state is BrokerState.RUNNING

    @property
    def leader_id(self) -> int:
        """Of the quorum, as far as the broker knows."""
        return NO_LEADER if self.process is None else self.process.reader.leader_id

    @property
    def lives(self) -> int:
        """How many processes it has had."""
        return self.disk.lives

    def start(self) -> None:
        """The first process, and from now on something may happen to it."""
        self._begin()
        self._next_fate()

    def calm(self) -> None:
        """Nothing happens to it any more; what has ended, or lost a directory, comes back."""
        self._has_fates = self._stays_away = False
        self._world.mix.end_delays()
        if self.disk.cordoned:
            self.disk.cordoned = []
        process = self.process
        if process is None:
            self._begin()
        elif process.replicas.offline_directories:
            self.kill(down_us=DOWN_US_MIN)  # Repaired, as a start finds all directories.
        else:
            process.replicas.paused = False

    def kill(self, *, down_us: int | None = None) -> None:
        """The process is gone, and back after some time."""
        if self.process is None:
            return
        self._world.counts["kills"] += 1
        self._end()
        if down_us is None:
            down_us = self._rng.randint(DOWN_US_MIN, self._world.mix.down_us_max)
        self._world.time.call_after(down_us, self._begin)

    def stay_away(self) -> None:
        """The process is gone until `calm` is called; nothing else happens to it."""
        self._has_fates = False
        self._stays_away = True
        if self.process is not None:
            self._end()

    def stop_and_stay_away(self) -> None:
        """Controlled, and until `calm` is called; nothing else happens to it."""
        self._has_fates = False
        self._stays_away = True
        self.shut_down()

    def shut_down(self) -> None:
        """Controlled: once the controller lets it go. It comes back afterwards."""
        if self.process is not None:
            self.process.shut_down()

    def lose_directory(self) -> None:
        """One of its log directories, unless it is the last."""
        process = self.process
        if process is None or not process.is_alive:
            return
        offline = process.replicas.offline_directories
        online = [directory for directory in self.disk.directories if directory not in offline]
        if len(online) > 1:
            process.lose_directory(self._rng.choice(online))

    def cordon_directory(self) -> None:
        """Or end that: the next heartbeat says which directories get no new replicas."""
        self._world.counts["directories cordoned"] += not self.disk.cordoned
        self.disk.cordoned = [] if self.disk.cordoned else [self._rng.choice(self.disk.directories)]

    def pause(self) -> None:
        """It reaches no other broker for some time: it leaves ISRs, or shrinks those that it leads."""
        process = self.process
        if process is None:
            return
        self._world.counts["pauses"] += 1
        process.replicas.paused = True

        def resume() -> None:
            process.replicas.paused = False

        self._world.time.call_after(self._rng.randint(DOWN_US_MIN, PAUSE_US_MAX), resume)

    def lose_log_copy(self) -> None:
        """It is killed, and comes back without its copy of the metadata log."""
        if self.process is not None:
            self.kill()
            self.disk.image.start_anew()
            self._world.counts["log_copies_lost"] += 1

    def _begin(self) -> None:
        if self.process is not None or self._stays_away:
            return
        self.disk.lives += 1
        self.process = BrokerProcess(self._world, self.disk, self._rng, self._has_shut_down)
        self.process.start()

    def _end(self) -> None:
        assert self.process is not None
        self.process.end()
        self.process = None

    def _has_shut_down(self) -> None:
        self._end()
        down_us = self._rng.randint(DOWN_US_MIN, self._world.mix.down_us_max)
        self._world.time.call_after(down_us, self._begin)

    def _next_fate(self) -> None:
        mean_us = self._world.mix.fate_interval_us
        self._world.time.call_after(self._rng.randint(mean_us // 4, mean_us * 7 // 4), self._meet_fate)

    def _meet_fate(self) -> None:
        process = self.process
        if process is not None and process.stale_heartbeats >= STALE_HEARTBEATS_MAX:
            self._world.counts["restarts_after_unregistering"] += 1
            self.kill()
        elif self._has_fates and process is not None:
            match self._world.mix.draw_fate(self._rng):
                case "kill":
                    self.kill()
                case "kill_and_return_at_once":
                    self.kill(down_us=DOWN_US_MIN)
                case "shut_down":
                    self.shut_down()
                case "lose_directory":
                    self.lose_directory()
                case "cordon_directory":
                    self.cordon_directory()
                case "pause":
                    self.pause()
                case "ask_to_be_fenced":
                    process.ask_to_be_fenced(self._rng.randint(DOWN_US_MIN, PAUSE_US_MAX))
                case "lose_log_copy":
                    self.lose_log_copy()
        self._next_fate()
