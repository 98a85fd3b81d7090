"""How often brokers and the admin do what; drawn per run, so that runs differ in kind (a swarm)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.support.simulator.brokers.wide_operations import WIDE_OPERATIONS

ADMIN_OPERATIONS = (
    "create_topic",
    "delete_topic",
    "create_partitions",
    "alter_configs",
    "alter_quotas",
    "alter_scram",
    "create_acls",
    "reassign",
    "cancel_reassignment",
    "elect_preferred",
    "elect_unclean",
    "update_features",
    "change_voters",
    "unregister_broker",
)

BROKER_FATES = ("kill", "kill_and_return_at_once", "shut_down", "lose_directory", "pause", "lose_log_copy")


def _draw_weights(rng: random.Random, names: tuple[str, ...]) -> dict[str, float]:
    """Each is left out half of the time; otherwise its weight is between 1 and 10, mostly small."""
    weights = {name: (0.0 if rng.random() < 0.5 else 10 ** rng.random()) for name in names}
    if not any(weights.values()):
        weights[rng.choice(names)] = 1.0
    return weights


@dataclass
class ClientMix:
    """Intervals are means. Weights that are all zero switch their group off."""

    heartbeat_interval_us: int = 500_000
    replication_interval_us: int = 200_000
    replica_lag_max_us: int = 1_500_000
    producing_share: float = 0.5
    """Of the leaders' partitions, in each round of replication."""
    fate_interval_us: int = 8_000_000
    """Between two things that happen to one broker."""
    down_us_max: int = 6_000_000
    allocate_interval_us: int = 4_000_000
    directories_max: int = 2
    admin_interval_us: int = 400_000
    forwarded_share: float = 0.5
    """Of admin requests, sent through a broker in an envelope."""
    topics_max: int = 12
    partitions_min: int = 1
    partitions_max: int = 6
    replication_factor_min: int = 1
    isr_delay_us_max: int = 0
    """How late a leader's AlterPartition may be: meanwhile its replicas restart, or are fenced."""
    metadata_delay_us_max: int = 0
    """How long a broker waits before it fetches metadata again."""
    leaders_are_hasty: bool = False
    """Leaders ask for all that have fetched everything, fenced or not, even with a process that has ended."""
    unclean_share: float = 0.2
    """Of topics, created with unclean.leader.election.enable."""
    is_wide: bool = False
    """Whether topics come first, and every type of record and every API may occur."""
    users_share: float = 0.0
    """Of the admin's operations, tried by users who have few rights."""
    has_authorizer: bool = False
    fates: dict[str, float] = field(default_factory=lambda: dict.fromkeys(BROKER_FATES, 1.0))
    operations: dict[str, float] = field(default_factory=lambda: dict.fromkeys(ADMIN_OPERATIONS, 1.0))

    @staticmethod
    def draw(rng: random.Random) -> ClientMix:
        """A mix for one run."""
        mix = ClientMix(
            heartbeat_interval_us=rng.choice([200_000, 500_000, 1_000_000]),
            replication_interval_us=rng.choice([100_000, 200_000, 300_000]),
            replica_lag_max_us=rng.choice([500_000, 1_500_000, 3_000_000]),
            producing_share=rng.choice([0.1, 0.5, 1.0]),
            fate_interval_us=rng.choice([3_000_000, 8_000_000, 20_000_000]),
            down_us_max=rng.choice([500_000, 3_000_000, 10_000_000]),
            directories_max=rng.choice([1, 2]),
            admin_interval_us=rng.choice([100_000, 400_000, 1_000_000]),
            forwarded_share=rng.choice([0.0, 0.5, 1.0]),
            topics_max=rng.choice([3, 12, 40]),
            unclean_share=rng.choice([0.0, 0.0, 0.5]),
            fates=_draw_weights(rng, BROKER_FATES),
            operations=_draw_weights(rng, ADMIN_OPERATIONS),
            isr_delay_us_max=rng.choice([0, 0, 1_000_000, 5_000_000]),
            metadata_delay_us_max=rng.choice([0, 0, 0, 1_500_000]),
            leaders_are_hasty=rng.random() < 0.3,
        )
        mix.operations["create_topic"] = max(1.0, mix.operations["create_topic"])
        return mix

    def widen(self, rng: random.Random, *, has_authorizer: bool) -> None:
        """More kinds of operations in one run than `draw` gives, and more of them."""
        self.is_wide = True
        self.has_authorizer = has_authorizer
        self.users_share = rng.choice((0.2, 0.35)) if has_authorizer else 0.0
        self.admin_interval_us = rng.choice((100_000, 200_000, 300_000))
        self.forwarded_share = rng.choice((0.2, 0.5, 0.8))
        names = (*ADMIN_OPERATIONS, *WIDE_OPERATIONS)
        self.operations = {name: 0.0 if rng.random() < 0.25 else 10 ** rng.random() for name in names}
        self.operations["create_topic"] = max(2.0, self.operations["create_topic"])
        self.operations["read"] = 7.0
        for rare in ("elect_preferred", "alter_acl", "alter_resource", "renew_token"):
            self.operations[rare] += 2.0
        self.fates["cordon_directory"] = rng.choice((0.0, 1.0, 3.0))

    def stress_isrs(self) -> None:
        """Many partitions early, replicas that come and go, leaders that ask for all of them."""
        self.admin_interval_us = 100_000
        self.operations = dict.fromkeys(ADMIN_OPERATIONS, 0.0) | {"create_topic": 4.0, "elect_preferred": 1.0}
        self.fates = {"kill": 1.0, "kill_and_return_at_once": 2.0, "shut_down": 2.0, "pause": 2.0}
        self.fate_interval_us = 3_000_000
        self.replication_interval_us = 100_000
        self.replica_lag_max_us = 500_000
        self.producing_share = 0.1
        self.isr_delay_us_max = 1_000_000
        self.leaders_are_hasty = True

    def enlarge_brokers(self, rng: random.Random) -> None:
        """A few topics of many partitions each; brokers that come and go; users who change everything."""
        self.partitions_min, self.partitions_max = 20, 60
        self.replication_factor_min = 3
        self.topics_max = rng.choice((2, 3, 5))
        self.admin_interval_us = rng.choice((100_000, 400_000))
        self.operations = dict.fromkeys(ADMIN_OPERATIONS, 0.0) | {
            "create_topic": 4.0,
            "delete_topic": rng.choice((0.0, 1.0)),
            "create_partitions": 0.5,
            "reassign_topic": rng.choice((0.0, 1.0)),
            "cancel_reassignment": 0.2,
            "elect_everything": rng.choice((0.0, 1.0)),
            "unregister_broker": rng.choice((0.0, 0.5)),
            "update_features": rng.choice((0.0, 0.2)),
        }
        self.fates = {
            "kill": 2.0,
            "kill_and_return_at_once": 2.0,
            "shut_down": 2.0,
            "pause": 0.5,
            "ask_to_be_fenced": 1.0,
            "lose_directory": rng.choice((0.0, 0.5)),
        }
        self.fate_interval_us = rng.choice((3_000_000, 8_000_000))
        self.down_us_max = rng.choice((500_000, 5_000_000))
        self.replication_interval_us = 300_000
        self.producing_share = 0.1

    def end_delays(self) -> None:
        """From now on nothing is late."""
        self.isr_delay_us_max = self.metadata_delay_us_max = 0
        self.leaders_are_hasty = False

    def draw_fate(self, rng: random.Random) -> str | None:
        return _choose(rng, self.fates)

    def draw_operation(self, rng: random.Random) -> str | None:
        return _choose(rng, self.operations)


def _choose(rng: random.Random, weights: dict[str, float]) -> str | None:
    """None if all weights are zero."""
    if not any(weights.values()):
        return None
    return rng.choices(list(weights), list(weights.values()))[0]
