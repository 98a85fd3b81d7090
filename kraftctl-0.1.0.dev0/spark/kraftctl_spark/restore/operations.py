"""The operations of a restore: each is independent of the others."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftctl_spark.restore.cluster_state import NamedAcl, QuotaKey, ResourceConfig
from kraftctl_spark.restore.plan import PlannedTopic


@dataclass(frozen=True)
class CreateTopic:
    """Creates a topic together with its configs."""

    topic: PlannedTopic
    configs: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        topic = self.topic
        where = "" if topic.replicas is None else f" on {[list(one) for one in topic.replicas]}"
        set_to = "".join(f", {name}={value}" for name, value in self.configs)
        return (
            f"create topic {topic.name}: {topic.partitions} partitions,"
            f" replication factor {topic.replication_factor}{where}{set_to}"
        )


@dataclass(frozen=True)
class AddPartitions:
    """Adds partitions to a topic, up to a number."""

    topic: str
    partitions: int
    added: int = field(compare=False)
    """The number of new ones, as far as it is known."""

    def __str__(self) -> str:
        return f"add partitions to topic {self.topic}, up to {self.partitions}"


@dataclass(frozen=True)
class SetConfig:
    """Sets one config of one resource."""

    config: ResourceConfig
    value: str

    def __str__(self) -> str:
        return f"set {self.config}={self.value}"


@dataclass(frozen=True)
class CreateAcl:
    """Creates one ACL, where an authorizer is."""

    acl: NamedAcl

    def __str__(self) -> str:
        return f"create ACL {self.acl}"


@dataclass(frozen=True)
class SetQuota:
    """Sets one quota of one entity."""

    quota: QuotaKey
    value: float

    def __str__(self) -> str:
        return f"set quota {self.quota}={self.value}"


Operation = CreateTopic | AddPartitions | SetConfig | CreateAcl | SetQuota
