"""What a run injects, drawn from its seed before it begins: settings that last, and happenings in time.

Swarm testing: in each run some kinds of faults are frequent and others do not occur, so that faults do not
hide each other's effects. A plan can be reduced: without some happenings, or with calm settings.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from kraftctl.metadata import features
from tests.support.simulator.brokers.broker_profiles import (
    KAFKA_3_9,
    KAFKA_4_0,
    KAFKA_4_3,
    KAFKA_4_4,
    BrokerProfile,
)
from tests.support.simulator.cluster.small_turns import FEW
from tests.support.simulator.cluster.users import AUTHORIZER
from tests.support.simulator.cluster.wire import LinkFaults, Place
from tests.support.simulator.disks.disks import DiskSpeed, fast_disk, slow_disk, stalling_disk

FIRST_BROKER_ID = 101

RUN_MS = (5_000, 10_000, 20_000)

ALL_FAST, ONE_SLOW, ALL_SLOW, STALLING = "fast disks", "one slow disk", "slow disks", "stalling disks"

SETTINGS = ("links", "disks", "clocks", "releases", "snapshots")
"""Names of the settings that `calm` replaces by harmless ones."""


@dataclass(frozen=True)
class Happening:
    """One thing that is done to the cluster. `seed` decides everything about it that is open."""

    at_ms: int
    kind: str
    seed: int

    def __str__(self) -> str:
        return f"{self.at_ms} ms {self.kind}"


@dataclass(frozen=True)
class Plan:
    """Everything that differs from run to run."""

    seed: int
    profile: str
    voter_ids: tuple[int, ...]
    observer_ids: tuple[int, ...]
    broker_count: int
    dynamic: bool
    changes_voters: bool
    upgrades: bool
    joins: bool
    destroys_disks: bool
    metadata_version: int
    duration_ms: int
    links: LinkFaults
    disks: dict[int, str]
    clock_percents: dict[int, int]
    wall_ahead_ms: dict[int, int]
    old_releases: tuple[int, ...]
    broker_profiles: tuple[BrokerProfile, ...]
    properties: dict[str, str]
    deletes_votes: bool = False
    """A supervisor deletes quorum-state before each start, as Strimzi's start script does."""
    is_wide: bool = False
    """Whether the workload covers every type of record and every API."""
    large_brokers: bool = False
    turn_units: tuple[int, ...] = FEW
    turn_us_max: int = 0
    happenings: tuple[Happening, ...] = field(default=())

    @property
    def node_ids(self) -> tuple[int, ...]:
        return self.voter_ids + self.observer_ids

    @property
    def kind(self) -> str:
        quorum = "dynamic" if self.dynamic else "static, upgraded" if self.upgrades else "static"
        if self.joins:
            return f"{quorum}, nodes join"
        return f"{quorum}, voters change" if self.changes_voters else quorum

    def with_only(self, kept: tuple[int, ...]) -> Plan:
        """With the happenings of these indexes alone."""
        return replace(self, happenings=tuple(self.happenings[index] for index in kept))

    def calmed(self, names: frozenset[str]) -> Plan:
        """With these settings harmless."""
        calm = self
        if "links" in names:
            calm = replace(calm, links=LinkFaults())
        if "disks" in names:
            calm = replace(calm, disks=dict.fromkeys(self.node_ids, ALL_FAST))
        if "clocks" in names:
            calm = replace(calm, clock_percents={}, wall_ahead_ms={})
        if "releases" in names:
            newest = KAFKA_4_4 if self.is_wide else KAFKA_4_3
            calm = replace(calm, old_releases=(), broker_profiles=(newest,) * self.broker_count)
        if "snapshots" in names:
            kept = {key: value for key, value in self.properties.items() if key in KEPT_WHEN_CALM}
            calm = replace(calm, properties=kept)
        return calm


@dataclass(frozen=True)
class Profile:
    """Chances and weights. A kind of happening that is not in `weights` does not occur."""

    brokers: tuple[int, ...]
    weights: dict[str, int]
    destroys_disks: float
    changes_voters: float
    voter_counts: tuple[int, ...] = (1, 2, 3, 3, 3, 3, 4, 5, 5)
    properties: dict[str, str] = field(default_factory=dict)
    """In the place of those that are drawn."""
    stresses_isrs: bool = False
    upgrades: bool = False
    """A static quorum is raised to kraft.version 1; after that its voters may change."""
    joins: float = 0.0
    """How often controllers make themselves voters."""
    deletes_votes: float = 0.0
    """How often a supervisor deletes quorum-state before each start."""
    is_wide: bool = False
    """The workload covers every type of record and every API."""
    large_brokers: bool = False
    """Each broker has many more partitions than a turn has units, and turns of long work take time."""
    durations_ms: tuple[int, ...] = RUN_MS
    extra: dict[str, int] = field(default_factory=dict)
    """Weights of what some runs have in addition."""


ALWAYS = {"restart": 6, "join": 4}
"""The ways back occur in every run."""

WAYS_BACK_PAUSES_MS = (200, 500, 1_200)
"""Between them: a quorum that is mostly up commits, and truncates what it could not commit."""

FAULTS_PAUSES_MS = (250, 600, 1_200)

PROCESSES = {
    "kill": 1,
    "lose power": 1,
    "lose power everywhere": 1,
    "end between effects": 3,
    "end after a rare effect": 3,
    "end twice": 1,
    "stop": 1,
    "freeze": 1,
}
NETWORK = {"isolate": 1, "isolate leader": 2, "cut one way": 1, "separate": 1, "bridge": 1}
BROKERS = {"cut off broker": 3}
CLOCKS = {"wall clock jumps": 1, "monotonic clock jumps": 1}
DISKS = {"disk full": 1, "fsync fails": 1, "reads fail": 1, "damaged download": 1}
ROT = {
    "bit rot": 2,
    "file lost": 2,
    "end of log lost": 1,
    "stop and lose end of log": 1,
    "directory adopted": 1,
    "quorum-state of a later release": 1,
    "old votes restored": 1,
}
DESTRUCTION = ROT | {"log lost": 1, "votes lost": 1, "directory lost": 1, "old log restored": 1}
MEMBERSHIP = {"add voter": 3, "remove voter": 3, "change voters twice": 2}
UPGRADES = {"upgrade kraft.version": 3}
LOAD = {"snapshot": 2}
SEQUENCES = {
    "leaders in turn": 2,
    "candidate loses records": 2,
    "leader of two leaves": 2,
    "download alone": 2,
    "leader alone changes voters": 2,
    "leader lacks records": 2,
}
REMOVALS = {"remove voter while others are down": 6}
TRANSACTIONS = {"leader ends in a transaction": 2}
"""Of rare events; see `rare_sequences`."""

BETWEEN_SLICES = {
    "kill between slices": 6,
    "stop between slices": 3,
    "isolate between slices": 4,
    "freeze between slices": 2,
    "kill while it loads": 1,
    "kill while it writes a snapshot": 1,
}
"""See `slice_happenings`."""
TOGETHER = {"kill brokers": 4, "shut down brokers": 2, "cut off brokers": 2}

FAULTS = PROCESSES | NETWORK | BROKERS | CLOCKS | DISKS | DESTRUCTION | MEMBERSHIP | LOAD

PROFILES = {
    "mixed": Profile(
        (2, 3, 3),
        FAULTS | REMOVALS | TRANSACTIONS,
        0.4,
        0.3,
        extra={"lose power in a flush": 1},
        deletes_votes=0.15,
        is_wide=True,
    ),
    "narrow": Profile(
        (0, 0, 3, 3, 4), FAULTS, 0.4, 0.3, extra={"lose power in a flush": 1}, deletes_votes=0.15
    ),
    "quorum": Profile((0,), FAULTS, 0.4, 0.3),
    "brokers": Profile((3, 4, 5), PROCESSES | NETWORK | BROKERS | LOAD, 0.0, 0.1),
    "slices": Profile(
        (4, 5, 6),
        BETWEEN_SLICES | TOGETHER | BROKERS | LOAD | {"isolate leader": 1, "lose power everywhere": 1},
        0.0,
        0.1,
        voter_counts=(1, 2, 3, 3, 3, 3, 5),
        properties={"broker.session.timeout.ms": "2000"},
        large_brokers=True,
        durations_ms=(8_000, 12_000, 20_000),
    ),
    "disks": Profile((0, 3), PROCESSES | DISKS | DESTRUCTION | LOAD, 0.8, 0.0),
    "rot": Profile(
        (0,),
        {"kill": 2, "end twice": 3, "damaged download": 1} | ROT | LOAD,
        1.0,
        0.0,
        voter_counts=(3, 3, 5),
    ),
    "cuts": Profile(
        (0,),
        {"isolate leader": 6, "end while the log is cut": 6, "kill": 1} | LOAD,
        0.0,
        0.0,
        voter_counts=(3, 3, 5),
    ),
    "power": Profile(
        (0, 3),
        {"lose power in a flush": 12, "lose power everywhere": 2, "isolate leader": 2, "kill": 1} | LOAD,
        0.0,
        0.3,
        voter_counts=(1, 2, 3, 3, 3, 5),
    ),
    "supervised": Profile(
        (0, 0, 3),
        PROCESSES
        | NETWORK
        | MEMBERSHIP
        | {"kill": 3, "lose power everywhere": 3, "kill everywhere": 3, "end twice": 2}
        | LOAD,
        0.0,
        0.25,
        voter_counts=(1, 2, 3, 3, 3, 3, 5),
        deletes_votes=1.0,
    ),
    "membership": Profile((0, 0, 3), PROCESSES | NETWORK | MEMBERSHIP | LOAD, 0.0, 1.0),
    "upgrades": Profile(
        (0, 0, 3), PROCESSES | NETWORK | MEMBERSHIP | UPGRADES | LOAD, 0.0, 0.5, upgrades=True, joins=0.3
    ),
    "joins": Profile(
        (0, 0, 3),
        PROCESSES | NETWORK | {"directory lost": 3} | LOAD,
        0.7,
        0.0,
        voter_counts=(1, 3, 3, 3, 4, 5),
        joins=1.0,
    ),
    "moves": Profile(
        (0,),
        {"move voter": 8, "add voter": 2, "remove voter": 1, "kill": 1, "isolate": 1, "isolate leader": 1}
        | LOAD,
        0.0,
        1.0,
        voter_counts=(3, 3, 4, 5),
    ),
    "isrs": Profile((3, 4, 5), {"kill": 1, "isolate leader": 1} | BROKERS, 0.0, 0.0, stresses_isrs=True),
    "sequences": Profile(
        (0,),
        SEQUENCES | {"kill": 1, "lose power": 1, "isolate": 1, "add voter": 1} | LOAD,
        0.0,
        0.35,
        voter_counts=(2, 3, 3, 3, 3, 5),
        properties={
            "controller.quorum.fetch.snapshot.max.bytes": "100",
            "metadata.max.retention.bytes": "0",
        },
    ),
    "flaps": Profile(
        (0, 3),
        {"refuse connections": 12, "kill": 2, "stop": 2, "isolate": 1, "add voter": 1, "remove voter": 1},
        0.0,
        0.3,
        voter_counts=(2, 3, 3, 3, 4, 5),
    ),
    "calm": Profile((0, 3), LOAD, 0.0, 0.0),
}

AUTO_JOIN = {"controller.quorum.auto.join.enable": "true"}

TOKENS = {
    "delegation.token.secret.key": "a secret",
    "delegation.token.expiry.check.interval.ms": "1000",
}
AUTHORIZER_SHARE = 0.75

KEPT_WHEN_CALM = frozenset({*AUTO_JOIN, *TOKENS, *AUTHORIZER})
"""Properties that a run is about."""

LARGE_BROKERS_UNITS = ((1, 2), (1, 2, 3, 5, 8), (3, 5, 8, 13))
LARGE_BROKERS_TURN_US = (0, 5_000, 20_000)
"""At most, drawn for each turn: meanwhile everything else happens."""

EXTRA_SHARE = 0.15
EXTRA_PAUSE_MS = 600

DISK_SPEEDS: dict[str, DiskSpeed] = {ALL_FAST: fast_disk, ALL_SLOW: slow_disk, STALLING: stalling_disk}


def draw_plan(seed: int, profile_name: str = "mixed") -> Plan:
    """The same seed and profile is the same plan."""
    profile = PROFILES[profile_name]
    rng = random.Random(seed)
    voter_ids = tuple(range(1, rng.choice(profile.voter_counts) + 1))
    observer_ids = (11, 12)[: rng.choice((0, 0, 1, 2))]
    node_ids = voter_ids + observer_ids
    dynamic = rng.random() < 0.65
    changes_voters = rng.random() < profile.changes_voters
    upgrades = profile.upgrades
    joins = profile.joins > 0 and rng.random() < profile.joins
    if changes_voters or joins:
        dynamic = True
        observer_ids = observer_ids or (11,)
        node_ids = voter_ids + observer_ids
    if upgrades:
        dynamic = False
    destroys_disks = not changes_voters and rng.random() < profile.destroys_disks
    duration_ms = rng.choice(profile.durations_ms)
    broker_count = rng.choice(profile.brokers)
    plan = Plan(
        seed=seed,
        profile=profile_name,
        voter_ids=voter_ids,
        observer_ids=observer_ids,
        broker_count=broker_count,
        dynamic=dynamic,
        changes_voters=changes_voters,
        upgrades=upgrades,
        joins=joins,
        destroys_disks=destroys_disks,
        metadata_version=rng.choice((features.DEFAULT_METADATA_VERSION,) * 3 + (features.IBP_3_9_IV0,)),
        duration_ms=duration_ms,
        links=_draw_links(rng, node_ids),
        disks=_draw_disks(rng, voter_ids, node_ids),
        clock_percents={id_: rng.randint(90, 110) for id_ in node_ids} if rng.random() < 0.3 else {},
        wall_ahead_ms=(
            {id_: rng.randint(-3_600_000, 3_600_000) for id_ in node_ids} if rng.random() < 0.2 else {}
        ),
        old_releases=tuple(id_ for id_ in node_ids if rng.random() < 0.4) if rng.random() < 0.25 else (),
        broker_profiles=_draw_broker_profiles(rng, broker_count),
        properties=_draw_properties(rng) | profile.properties | (AUTO_JOIN if joins else {}),
    )
    if profile.large_brokers:
        plan = replace(
            plan,
            large_brokers=True,
            turn_units=rng.choice(LARGE_BROKERS_UNITS),
            turn_us_max=rng.choice(LARGE_BROKERS_TURN_US),
        )
    if random.Random(f"supervisor {seed}").random() < profile.deletes_votes:
        plan = replace(plan, deletes_votes=True)
    if profile.is_wide:
        plan = _widen(plan)
    happenings = _draw_happenings(rng, plan, profile) + _draw_extra(plan, profile)
    return replace(plan, happenings=tuple(sorted(happenings, key=_time_of)))


def _widen(plan: Plan) -> Plan:
    """At least one broker knows all features, in half of the runs all but the old ones do; there are tokens,
    and mostly an authorizer.
    """
    properties = plan.properties | TOKENS
    if random.Random(f"authorizer {plan.seed}").random() < AUTHORIZER_SHARE:
        properties |= AUTHORIZER
    others = plan.broker_profiles[1:]
    if random.Random(f"release {plan.seed}").random() < 0.5:
        others = tuple(KAFKA_4_4 if profile is KAFKA_4_3 else profile for profile in others)
    profiles = (KAFKA_4_4, *others)
    return replace(plan, is_wide=True, properties=properties, broker_profiles=profiles)


def _draw_broker_profiles(rng: random.Random, count: int) -> tuple[BrokerProfile, ...]:
    if rng.random() < 0.7:
        return (KAFKA_4_3,) * count
    return tuple(rng.choice((KAFKA_4_3, KAFKA_4_0, KAFKA_3_9)) for _ in range(count))


def _draw_links(rng: random.Random, node_ids: tuple[int, ...]) -> LinkFaults:
    slow_links: dict[tuple[Place, Place], int] = {}
    if rng.random() < 0.2:
        for _ in range(rng.randint(1, 4)):
            slow_links[rng.choice(node_ids), rng.choice(node_ids)] = rng.randint(100_000, 3_000_000)
    return LinkFaults(
        loss=rng.choice((0.0, 0.0, 0.02, 0.15)),
        delay_us_max=rng.choice((500, 5_000, 50_000, 400_000)),
        duplicates=rng.choice((0.0, 0.0, 0.05, 0.3)),
        slow_links=slow_links,
    )


def _draw_disks(rng: random.Random, voter_ids: tuple[int, ...], node_ids: tuple[int, ...]) -> dict[int, str]:
    kind = rng.choice((ALL_FAST, ALL_FAST, ONE_SLOW, ALL_SLOW, STALLING))
    if kind == ONE_SLOW:
        return dict.fromkeys(node_ids, ALL_FAST) | {rng.choice(voter_ids): ALL_SLOW}
    return dict.fromkeys(node_ids, kind)


def _draw_properties(rng: random.Random) -> dict[str, str]:
    """Snapshots after little, short segments and little retention, so that logs are trimmed within a run."""
    properties = {
        "controller.quorum.election.timeout.ms": str(rng.choice((200, 500, 1_000))),
        "controller.quorum.fetch.timeout.ms": str(rng.choice((1_000, 2_000))),
        "controller.quorum.election.backoff.max.ms": str(rng.choice((100, 1_000))),
        "controller.quorum.retry.backoff.ms": str(rng.choice((20, 100, 300))),
        "controller.quorum.fetch.snapshot.max.bytes": str(rng.choice((500, 2_000, 1_048_576))),
        "broker.session.timeout.ms": str(rng.choice((2_000, 4_000, 9_000))),
        "broker.heartbeat.interval.ms": "500",
        "unclean.leader.election.enable": rng.choice(("true", "false", "false")),
        "unclean.leader.election.interval.ms": "5000",
        "leader.imbalance.check.interval.seconds": "5",
    }
    if rng.random() < 0.7:
        properties["metadata.log.max.record.bytes.between.snapshots"] = str(rng.choice((300, 2_000, 10_000)))
        properties["metadata.max.retention.bytes"] = str(rng.choice((0, 2_000, 1_000_000)))
    if rng.random() < 0.3:
        properties["metadata.log.max.snapshot.interval.ms"] = str(rng.choice((1_000, 5_000)))
    if rng.random() < 0.6:
        properties["internal.metadata.log.segment.bytes"] = str(rng.choice((400, 1_500, 8_000)))
    return properties


def _draw_happenings(rng: random.Random, plan: Plan, profile: Profile) -> list[Happening]:
    """Faults, and beside them the ways back, each at a rate of its own."""
    weights: dict[str, int] = {}
    for kind, weight in profile.weights.items():
        if kind in DESTRUCTION and not plan.destroys_disks:
            continue
        if kind in MEMBERSHIP | REMOVALS and not plan.changes_voters:
            continue
        share = (1, 2, 3) if kind in REMOVALS else (0, 0, 1, 2, 3)
        weights[kind] = weight * (1 if kind in LOAD else rng.choice(share))
    happenings = _draw_stream(rng, plan, weights, rng.choice(FAULTS_PAUSES_MS))
    return happenings + _draw_stream(rng, plan, ALWAYS, rng.choice(WAYS_BACK_PAUSES_MS))


def _draw_extra(plan: Plan, profile: Profile) -> list[Happening]:
    """From a generator of its own: the other runs, and the rest of these, stay as they are without it."""
    rng = random.Random(f"in addition {plan.seed}")
    if not profile.extra or rng.random() >= EXTRA_SHARE:
        return []
    return _draw_stream(rng, plan, profile.extra, EXTRA_PAUSE_MS)


def _draw_stream(rng: random.Random, plan: Plan, weights: dict[str, int], pause_ms: int) -> list[Happening]:
    kinds = [kind for kind, weight in weights.items() if weight > 0]
    chances = [weights[kind] for kind in kinds]
    happenings: list[Happening] = []
    at_ms = rng.choice((0, 0, 3_000))
    while kinds and (at_ms := at_ms + rng.randint(1, 2 * pause_ms)) < plan.duration_ms:
        happenings.append(Happening(at_ms, rng.choices(kinds, chances)[0], rng.getrandbits(32)))
    return happenings


def _time_of(happening: Happening) -> int:
    return happening.at_ms
