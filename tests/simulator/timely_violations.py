"""What has to end in time, and does not: leaderships, what they answer, and sessions of brokers."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.metadata import features
from kraftctl.raft.states import NEVER_MS, Leader
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.register_broker_record import BrokerFeature, RegisterBrokerRecord
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.scripted_quorum import ScriptedQuorum
from tests.support.simulator.timely_ends import TimelyEnds

BROKER_ID = 101

Violation = Callable[[ScriptedQuorum], object]


class SilentBroker:
    broker_id = BROKER_ID
    lives = 1

    def __init__(self, process: object | None) -> None:
        self.process = process


def _look_for(cluster: Cluster, ends: TimelyEnds, seconds: int, each: Callable[[], None]) -> None:
    for _ in range(2 * seconds):
        each()
        ends.look()
        cluster.run_for(500)


def _active(cluster: Cluster) -> ControllerProcess:
    cluster.run_until(lambda: cluster.active() is not None, 30_000, "EventuallyLeaderElected")
    process = cluster.active()
    assert process is not None
    return process


def leader_that_is_alone(_: ScriptedQuorum) -> None:
    cluster = Cluster(1, (1, 2, 3), dynamic=True)
    with cluster.files.attach():
        cluster.start()
        process = _active(cluster)
        cluster.isolate(process.node_id)

        def leads_on() -> None:
            state = process.raft._core.state
            assert isinstance(state, Leader)
            state.restart_check_quorum(NEVER_MS)

        _look_for(cluster, TimelyEnds(cluster, []), 10, leads_on)


def leader_that_resigns_although_all_fetch(_: ScriptedQuorum) -> None:
    cluster = Cluster(1, (1, 2, 3), dynamic=True)
    with cluster.files.attach():
        cluster.start()
        process = _active(cluster)
        cluster.run_for(5_000)
        state = process.raft._core.state
        assert isinstance(state, Leader)
        state.restart_check_quorum(process.clock.now_ms())
        cluster.run_for(1_000)


def session_that_does_not_run_out(_: ScriptedQuorum) -> None:
    """The broker is registered and unfenced, and has no session."""
    _keep_unfenced(SilentBroker(None), renews=False)


def session_of_a_broker_that_is_gone(_: ScriptedQuorum) -> None:
    _keep_unfenced(SilentBroker(None), renews=True)


def session_of_a_broker_that_is_cut_off(_: ScriptedQuorum) -> None:
    _keep_unfenced(SilentBroker("runs"), renews=True)


def _keep_unfenced(broker: SilentBroker, *, renews: bool) -> None:
    """Whatever happens; `renews` its session without a heartbeat."""
    cluster = Cluster(1, (1,), dynamic=True)
    with cluster.files.attach():
        cluster.start()
        process = _active(cluster)
        image = process.controller.image
        levels = {**image.features.finalized, features.METADATA_VERSION: image.features.metadata_version}
        supported = [BrokerFeature(name=name, max_supported_version=level) for name, level in levels.items()]
        process.write(
            RegisterBrokerRecord(
                broker_id=BROKER_ID,
                broker_epoch=process.raft.end_offset,
                fenced=False,
                features=supported,
            )
        )
        cluster.wire.cut.add((f"broker-{BROKER_ID}", process.node_id))

        def renew() -> None:
            if renews:
                heartbeats = process.controller.state.heartbeats
                for registration in image.cluster.brokers.values():
                    heartbeats.update_contact_time(
                        registration.id, registration.epoch, process.clock.now_ms()
                    )

        _look_for(cluster, TimelyEnds(cluster, [broker]), 20, renew)


def answer_of_a_former_leader(quorum: ScriptedQuorum) -> None:
    quorum.other.lead(2)
    request = BrokerHeartbeatRequest(broker_id=101)
    quorum.leader.do(quorum.leader.request(request, 7))
    quorum.leader.respond(7, BrokerHeartbeatResponse())


TIMELY_VIOLATIONS: list[tuple[str, Violation]] = [
    ("AnswersOnlyWhileLeading", answer_of_a_former_leader),
    ("LeaderHasMajority", leader_that_is_alone),
    ("StableLeadership", leader_that_resigns_although_all_fetch),
    ("SilentBrokerIsFenced", session_that_does_not_run_out),
    ("SilentBrokerIsFenced", session_of_a_broker_that_is_gone),
    ("SilentBrokerIsFenced", session_of_a_broker_that_is_cut_off),
]
