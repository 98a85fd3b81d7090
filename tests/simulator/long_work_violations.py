"""Long work that does not end once faults have ended, or leaves something behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from kraftctl.metadata import features
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import BrokerFeature, RegisterBrokerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from tests.support.simulator.brokers.broker_process import BrokerState
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.scripted_quorum import ScriptedQuorum
from tests.support.simulator.faults.departures import Departures

BROKER_ID = 101
TOPIC = (7).to_bytes(16, "big")
DIRECTORY = (1_000).to_bytes(16, "big")
RENEWED_US = 500_000

Violation = Callable[[ScriptedQuorum], object]


class DepartingBroker:
    """What is looked at of a ModelBroker, and of its process."""

    broker_id = BROKER_ID
    state = BrokerState.RUNNING

    @property
    def process(self) -> DepartingBroker:
        return self

    def stay_away(self) -> None: ...

    def calm(self) -> None: ...


@contextmanager
def _one_controller() -> Iterator[tuple[Cluster, ControllerProcess]]:
    cluster = Cluster(1, (1,), dynamic=True)
    with cluster.files.attach():
        cluster.start()
        yield cluster, cluster.await_active()


def _departures(cluster: Cluster, broker: DepartingBroker) -> Departures:
    return Departures(cluster, [cast("Any", broker)], lambda: True)


def _register(cluster: Cluster, process: ControllerProcess) -> None:
    """An unfenced broker, whose session never runs out."""
    image = process.controller.image
    levels = {**image.features.finalized, features.METADATA_VERSION: image.features.metadata_version}
    supported = [BrokerFeature(name=name, max_supported_version=level) for name, level in levels.items()]
    epoch = process.raft.end_offset
    process.write(
        RegisterBrokerRecord(
            broker_id=BROKER_ID, broker_epoch=epoch, fenced=False, features=supported, log_dirs=[DIRECTORY]
        ),
        features.register_broker_record_version(image.features.metadata_version),
    )

    def renew() -> None:
        process.controller.state.heartbeats.update_contact_time(BROKER_ID, epoch, process.clock.now_ms())
        cluster.time.call_after(RENEWED_US, renew)

    renew()


def silent_broker_that_stays_unfenced(_: ScriptedQuorum) -> None:
    with _one_controller() as (cluster, process):
        _register(cluster, process)
        departures = _departures(cluster, DepartingBroker())
        departures._silent = [cast("Any", DepartingBroker())]
        departures.settle()


def broker_that_may_never_stop(_: ScriptedQuorum) -> None:
    with _one_controller() as (cluster, _process):
        broker = DepartingBroker()
        broker.state = BrokerState.STOPPING
        _departures(cluster, broker).settle()


def partition_that_nobody_leads(_: ScriptedQuorum) -> None:
    """Its broker registers, and no election follows."""
    with _one_controller() as (cluster, process):
        process.write(TopicRecord(name="foo", topic_id=TOPIC))
        partition = PartitionRecord(
            partition_id=0,
            topic_id=TOPIC,
            replicas=[BROKER_ID],
            isr=[BROKER_ID],
            leader=-1,
            leader_epoch=1,
            partition_epoch=1,
            directories=[DIRECTORY],
        )
        process.write(partition, 1)
        _register(cluster, process)
        _departures(cluster, DepartingBroker()).settle()


def broker_that_is_leaving_for_ever(_: ScriptedQuorum) -> None:
    with _one_controller() as (cluster, process):
        process.controller.state.heartbeats.leaving.begin(BROKER_ID, 5)
        _departures(cluster, DepartingBroker()).settle()


def request_that_is_forgotten(_: ScriptedQuorum) -> None:
    with _one_controller() as (cluster, process):
        process._requests[1_000_000] = cast("Any", object())
        _departures(cluster, DepartingBroker()).settle()


LONG_WORK_VIOLATIONS: list[tuple[str, Violation]] = [
    ("EventuallyFenced", silent_broker_that_stays_unfenced),
    ("EventuallyReleased", broker_that_may_never_stop),
    ("EventuallyLed", partition_that_nobody_leads),
    ("EventuallyIdle", broker_that_is_leaving_for_ever),
    ("EventuallyAnswered", request_that_is_forgotten),
]
