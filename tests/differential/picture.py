"""What the cluster of a round looks like, from the records of Kafka's controller: calls are made with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.differential.codec import Body
from tests.differential.metadata_log import LoggedRecord

MIN_ISR = "min.insync.replicas"
MUTATION_RATE = "controller_mutation_rate"

CHANGED = (
    ("isr", "Isr"),
    ("replicas", "Replicas"),
    ("adding", "AddingReplicas"),
    ("removing", "RemovingReplicas"),
    ("elr", "EligibleLeaderReplicas"),
    ("directories", "Directories"),
)


@dataclass
class Partition:
    """The replicas of a partition, and the epochs that a change of it has to name."""

    replicas: list[int]
    isr: list[int]
    adding: list[int]
    removing: list[int]
    leader: int
    leader_epoch: int
    epoch: int
    elr: list[int] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)


@dataclass
class Broker:
    """A registration."""

    incarnation: str
    directories: list[str]
    fenced: bool = True
    shutting_down: bool = False
    epoch: int = -1
    cordoned: list[str] = field(default_factory=list)

    @property
    def is_cordoned(self) -> bool:
        """Returns whether all its directories are."""
        return bool(self.cordoned) and set(self.directories) <= set(self.cordoned)


@dataclass
class Picture:
    """Replays records; names instead of ids."""

    topics: dict[str, dict[int, Partition]] = field(default_factory=dict)
    brokers: dict[int, Broker] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    configs: dict[tuple[int, str], dict[str, str | None]] = field(default_factory=dict)
    acls: dict[str, Body] = field(default_factory=dict)
    users: set[tuple[str, int]] = field(default_factory=set)
    mutation_rates: set[str] = field(default_factory=set)
    """The entities that have a quota of partitions."""

    controllers: set[int] = field(default_factory=set)
    of_cleared_elrs: set[int] = field(default_factory=set)
    """Brokers that Kafka still finds in ELRs which were cleared."""

    tokens_count: bool = False
    """Whether requests about tokens were made under a quota of partitions, of which they use a part."""

    _names: dict[str, str] = field(default_factory=dict)

    def replay(self, record: LoggedRecord) -> None:
        handler = getattr(self, f"_{record.name}", None)
        if handler is not None:
            handler(record.body)

    def partitions(self) -> list[tuple[str, int, Partition]]:
        return [
            (name, index, partition)
            for name, partitions in sorted(self.topics.items())
            for index, partition in sorted(partitions.items())
        ]

    def min_isr(self, topic: str) -> int:
        """Returns what is configured for the topic, or for all."""
        of_topic, of_all = (self.configs.get(each, {}).get(MIN_ISR) for each in ((2, topic), (4, "")))
        return int(of_topic or of_all or 1)

    def _TopicRecord(self, body: Body) -> None:
        self._names[body["TopicId"]] = body["Name"]
        self.topics[body["Name"]] = {}

    def _RemoveTopicRecord(self, body: Body) -> None:
        name = self._names.pop(body["TopicId"])
        self.topics.pop(name, None)
        self.configs.pop((2, name), None)

    def _PartitionRecord(self, body: Body) -> None:
        self.topics[self._names[body["TopicId"]]][body["PartitionId"]] = Partition(
            body["Replicas"],
            body["Isr"],
            body["AddingReplicas"],
            body["RemovingReplicas"],
            body["Leader"],
            body["LeaderEpoch"],
            body["PartitionEpoch"],
            directories=body.get("Directories") or [],
        )

    def _PartitionChangeRecord(self, body: Body) -> None:
        partition = self.topics[self._names[body["TopicId"]]][body["PartitionId"]]
        partition.epoch += 1
        for name, key in CHANGED:
            if body.get(key) is not None:
                setattr(partition, name, body[key])
        if body["Leader"] != -2:
            partition.leader = body["Leader"]
            partition.leader_epoch += 1

    def _ClearElrRecord(self, body: Body) -> None:
        for name, _, partition in self.partitions():
            if body["TopicName"] in ("", name):
                self.of_cleared_elrs |= set(partition.elr)
                partition.elr = []

    def _RegisterBrokerRecord(self, body: Body) -> None:
        self.brokers[body["BrokerId"]] = Broker(
            body["IncarnationId"],
            body.get("LogDirs") or [],
            body["Fenced"],
            body.get("InControlledShutdown", False),
            body["BrokerEpoch"],
            body.get("CordonedLogDirs") or [],
        )

    def _UnregisterBrokerRecord(self, body: Body) -> None:
        self.brokers.pop(body["BrokerId"], None)

    def _BrokerRegistrationChangeRecord(self, body: Body) -> None:
        broker = self.brokers[body["BrokerId"]]
        if body["Fenced"]:
            broker.fenced = body["Fenced"] > 0
        if body.get("InControlledShutdown"):
            broker.shutting_down = True
        if body.get("LogDirs"):
            broker.directories = body["LogDirs"]
        if body.get("CordonedLogDirs") is not None:
            broker.cordoned = body["CordonedLogDirs"]

    def _FenceBrokerRecord(self, body: Body) -> None:
        self.brokers[body["Id"]].fenced = True

    def _UnfenceBrokerRecord(self, body: Body) -> None:
        self.brokers[body["Id"]].fenced = False

    def _FeatureLevelRecord(self, body: Body) -> None:
        self.features[body["Name"]] = body["FeatureLevel"]

    def _ConfigRecord(self, body: Body) -> None:
        self.configs.setdefault((body["ResourceType"], body["ResourceName"]), {})[body["Name"]] = body[
            "Value"
        ]

    def _AccessControlEntryRecord(self, body: Body) -> None:
        self.acls[body["Id"]] = body

    def _RemoveAccessControlEntryRecord(self, body: Body) -> None:
        self.acls.pop(body["Id"], None)

    def _UserScramCredentialRecord(self, body: Body) -> None:
        self.users.add((body["Name"], body["Mechanism"]))

    def _RemoveUserScramCredentialRecord(self, body: Body) -> None:
        self.users.discard((body["Name"], body["Mechanism"]))

    def _ClientQuotaRecord(self, body: Body) -> None:
        if body["Key"] == MUTATION_RATE:
            (self.mutation_rates.discard if body["Remove"] else self.mutation_rates.add)(repr(body["Entity"]))

    def _DelegationTokenRecord(self, body: Body) -> None:
        self.tokens_count |= bool(self.mutation_rates)

    _RemoveDelegationTokenRecord = _DelegationTokenRecord

    def _RegisterControllerRecord(self, body: Body) -> None:
        self.controllers.add(body["ControllerId"])


def without_repeated_fencing(
    records: list[LoggedRecord], fenced: set[int]
) -> tuple[list[LoggedRecord], list[int]]:
    """Returns all records but those that only say of a fenced broker that it is fenced, and these brokers."""
    fenced = set(fenced)
    kept, again = [], []
    for record in records:
        body = record.body
        broker = fencing = None
        if record.name in ("FenceBrokerRecord", "UnfenceBrokerRecord"):
            broker, fencing = body["Id"], 1 if record.name == "FenceBrokerRecord" else -1
        elif record.name == "BrokerRegistrationChangeRecord":
            broker, fencing = body["BrokerId"], body["Fenced"]
        elif record.name == "RegisterBrokerRecord":
            broker, fencing = body["BrokerId"], 1 if body["Fenced"] else -1
        if (
            record.name != "RegisterBrokerRecord"
            and fencing == 1
            and broker in fenced
            and not body.get("LogDirs")
        ):
            again.append(broker)
            continue
        kept.append(record)
        if broker is not None and fencing:
            (fenced.add if fencing == 1 else fenced.discard)(broker)
    return kept, again
