"""Model brokers and the model admin behave as real ones do; one controller without faults of its own."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch
from kraftctl_protocol.uuids import Uuid
from tests.simulator.one_controller import OneController
from tests.support.active_controller import CLUSTER_ID, NODE_ID
from tests.support.simulator.brokers.admin import ModelAdmin
from tests.support.simulator.brokers.broker_profiles import KAFKA_3_9, KAFKA_4_3, PROFILES, BrokerProfile
from tests.support.simulator.brokers.broker_world import BrokerWorld
from tests.support.simulator.brokers.brokers import ModelBroker
from tests.support.simulator.brokers.client_mix import ADMIN_OPERATIONS, ClientMix
from tests.support.simulator.brokers.isr_changes import STATES_SENT_FROM_VERSION
from tests.support.simulator.checks.replication_settled import why_not_settled

SEEDS_FOR_BEHAVIOURS = (0, 1, 3, 10, 12)
"""Each has a behaviour that those before it lack."""

SELDOM_ACKNOWLEDGED = ("change_voters", "create_acls", "elect_unclean")
"""The voters do not change, there is no authorizer, and what may be elected is elected without asking."""

BEHAVIOURS = (
    *(f"admin {name} acknowledged" for name in ADMIN_OPERATIONS if name not in SELDOM_ACKNOWLEDGED),
    "acknowledgements",
    "alter_partitions",
    "controlled_shutdowns",
    "directories_lost",
    "directory assignment NONE",
    "envelopes",
    "heartbeat STALE_BROKER_EPOCH",
    "isr NEW_LEADER_ELECTED",
    "isr INVALID_UPDATE_VERSION",
    "isr_expanded",
    "isr_shrunk",
    "leaders_recovered",
    "log_copies_lost",
    "log_tails_lost",
    "producer_id_blocks",
    "registration DUPLICATE_BROKER_REGISTRATION",
    "restarts_after_unregistering",
    "snapshots_fetched",
    "unclean elections",
    "unfenced",
)


class Watch:
    """Checks what a single broker's view is enough for."""

    def __init__(self) -> None:
        self.led: dict[tuple[Uuid, int, int], int] = {}
        self.elections = 0
        self.unclean = 0
        self.acknowledgements = 0

    def started(self, broker_id: int, life: int, end_offset: int) -> None: ...

    def told_high_watermark(self, broker_id: int, life: int, high_watermark: int) -> None: ...

    def applied(self, broker_id: int, life: int, batch: RecordBatch, data: bytes) -> None: ...

    def loaded(self, broker_id: int, life: int, snapshot_id: OffsetAndEpoch, data: bytes) -> None: ...

    def leads(self, broker_id: int, topic_id: Uuid, partition: int, leader_epoch: int) -> None:
        key = (topic_id, partition, leader_epoch)
        assert self.led.setdefault(key, broker_id) == broker_id

    def acknowledged(
        self, broker_id: int, topic_id: Uuid, partition: int, leader_epoch: int, end_offset: int
    ) -> None:
        self.acknowledgements += 1

    def elected(
        self,
        topic_id: Uuid,
        partition: int,
        leader: int,
        leader_epoch: int,
        *,
        clean: bool,
        has_all_acknowledged: bool,
    ) -> None:
        self.elections += 1
        self.unclean += not clean
        assert has_all_acknowledged or not clean, (
            f"LeaderCandidateCompleteness: {leader} in epoch {leader_epoch} of {topic_id.hex()}-{partition}"
        )


class Scene:
    """Brokers and the admin around one controller."""

    def __init__(
        self,
        seed: int,
        mix: ClientMix,
        brokers: int = 3,
        *,
        loss: float = 0.0,
        snapshot_bytes: int = 1 << 30,
        metadata_version: int = features.DEFAULT_METADATA_VERSION,
        profile: BrokerProfile = KAFKA_4_3,
    ) -> None:
        """Broker 1 is of the release `profile`, the others of 4.3."""
        self.controller = OneController(
            seed, loss=loss, snapshot_bytes=snapshot_bytes, metadata_version=metadata_version
        )
        self.watch = Watch()
        self.world = BrokerWorld(
            cluster_id=CLUSTER_ID,
            bootstrap=[NODE_ID],
            network=self.controller.clients,
            time=self.controller.time,
            watch=self.watch,
            mix=mix,
            tails_are_lost=profile.version(AlterPartitionRequest) >= STATES_SENT_FROM_VERSION,
        )
        self.counts = self.world.counts
        self.brokers = [
            ModelBroker(
                broker_id,
                self.world,
                random.Random(seed * 100 + broker_id),
                profile=profile if broker_id == 1 else KAFKA_4_3,
            )
            for broker_id in range(1, brokers + 1)
        ]
        self.admin = ModelAdmin(self.world, self.brokers, random.Random(seed))
        for broker in self.brokers:
            broker.start()

    def run(self, seconds: float) -> None:
        self.controller.run_for(int(seconds * 1000))

    @property
    def image(self) -> MetadataImage:
        return self.controller.image

    def settle(self) -> None:
        """Everything calms down; then nothing is missing that was acknowledged."""
        self.controller.heal()
        self.admin.stop()
        for broker in self.brokers:
            broker.calm()
        for _ in range(30):
            self.run(2)
            reason = why_not_settled(self.brokers, self.image, elr_has_changed=self.admin.elr_has_changed)
            if reason is None and self.admin.is_idle:
                break
        assert reason is None, reason
        assert self.admin.is_idle
        self.admin.history.check_final(self.image)


def calm_mix() -> ClientMix:
    return ClientMix(fates={}, operations={})


def test_brokers_register_and_are_unfenced() -> None:
    scene = Scene(1, calm_mix())
    scene.run(3)
    assert all(broker.is_running for broker in scene.brokers)
    assert scene.counts["registrations"] == scene.counts["unfenced"] == 3


@pytest.mark.parametrize("seed", range(8))
def test_a_drawn_mix_ends_in_what_was_acknowledged(seed: int) -> None:
    rng = random.Random(seed)
    scene = Scene(
        seed,
        ClientMix.draw(rng),
        rng.randint(3, 5),
        loss=rng.choice([0.0, 0.05]),
        snapshot_bytes=rng.choice([1 << 30, 20_000]),
    )
    scene.admin.start()
    scene.run(25)
    scene.settle()


def test_every_behaviour_is_seen() -> None:
    """A model that never does something checks nothing of it."""
    seen: Counter[str] = Counter()
    mix = ClientMix(admin_interval_us=150_000, fate_interval_us=5_000_000, unclean_share=0.3)
    for seed in SEEDS_FOR_BEHAVIOURS:
        scene = Scene(seed, mix, 4, loss=0.05 * (seed % 2), snapshot_bytes=5_000)
        scene.admin.start()
        scene.run(30)
        seen += scene.counts
        seen["unclean elections"] += scene.watch.unclean
        seen["acknowledgements"] += scene.watch.acknowledgements
    assert [name for name in BEHAVIOURS if not seen[name]] == []


@pytest.mark.parametrize(
    ("profile", "level"),
    [
        pytest.param(profile, profile.features["metadata.version"][1], id=profile.name)
        for profile in PROFILES
        if profile.name != "4.3"
    ],
)
def test_brokers_of_older_releases(profile: BrokerProfile, level: int) -> None:
    """Beside one of 4.3, at the highest metadata.version that they know."""
    mix = ClientMix(fate_interval_us=4_000_000, operations={"create_topic": 1.0})
    scene = Scene(5, mix, metadata_version=level, profile=profile)
    scene.admin.start()
    scene.run(20)
    scene.settle()
    assert scene.counts["registrations"] >= 3
    assert scene.counts["isr NONE"] > 0


def test_a_broker_of_an_older_release_is_refused_above_its_level() -> None:
    scene = Scene(5, calm_mix(), profile=KAFKA_3_9)
    scene.run(5)
    assert scene.counts["registration UNSUPPORTED_VERSION"] > 0
    assert [broker.is_running for broker in scene.brokers] == [False, True, True]
