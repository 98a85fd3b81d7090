"""A node obeys dynamic configs when they are committed: not before, and after each start, the last ones."""

from __future__ import annotations

import random
from collections.abc import Mapping

from kraftctl.node.events import LogLevelsChanged, NodeConfigsChanged, NodeEffect
from kraftctl.raft.events import ResignRequested
from kraftctl_protocol.config_resource import BROKER, BROKER_LOGGER, CLUSTER_DEFAULT
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from tests.support.active_controller import NODE_ID
from tests.support.simulator.cluster.direct_client import DirectClient
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import quorums

OWN = str(NODE_ID)
SET, DELETE = 0, 1


def alteration(name: str, kind: int = BROKER, **changes: str | None) -> IncrementalAlterConfigsRequest:
    configs = [
        AlterableConfig(
            name=key.replace("_", "."), config_operation=DELETE if value is None else SET, value=value
        )
        for key, value in changes.items()
    ]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return IncrementalAlterConfigsRequest(resources=[resource])


class Obeyed:
    """What processes have to obey, by the id of their nodes."""

    def __init__(self, *processes: ControllerProcess) -> None:
        self.seen: list[tuple[int, Mapping[str, str], Mapping[str, str]]] = []
        self.levels: list[tuple[int, Mapping[str, str | None]]] = []
        for process in processes:
            process.on_effect = self._effect

    def _effect(self, process: ControllerProcess, effect: NodeEffect) -> None:
        if isinstance(effect, NodeConfigsChanged):
            cluster = {key: value for key, value in effect.cluster.items() if key != "min.insync.replicas"}
            self.seen.append((process.node_id, effect.own, cluster))
        elif isinstance(effect, LogLevelsChanged):
            self.levels.append((process.node_id, effect.levels))

    def take(self) -> list[tuple[int, Mapping[str, str], Mapping[str, str]]]:
        seen, self.seen = self.seen, []
        return seen


def lone_node(seed: int = 1, snapshot_bytes: int = 1 << 30) -> tuple[LoneNode, Obeyed]:
    node = LoneNode(seed=seed, snapshot_bytes=snapshot_bytes)
    obeyed = Obeyed(node.process)
    node.settle()
    obeyed.take()
    return node, obeyed


def test_what_is_not_committed_is_not_obeyed() -> None:
    node, obeyed = lone_node()
    asked = node.send(alteration(OWN, max_connections="3"))
    node.run_for(0)
    assert node.controller.image.configurations.config(BROKER, OWN) == {"max.connections": "3"}
    assert obeyed.take() == []
    node.settle()
    assert asked in node.answers
    assert obeyed.take() == [(NODE_ID, {"max.connections": "3"}, {})]


def test_of_two_changes_the_one_that_is_committed_is_obeyed() -> None:
    node, obeyed = lone_node()
    node.send(alteration(OWN, max_connections="3"))
    node.run_for(0)
    node.send(alteration(OWN, max_connections="4"))
    node.run_for(0)
    assert node.flush()
    node.run_for(0)
    assert node.controller.image.configurations.config(BROKER, OWN) == {"max.connections": "4"}
    assert obeyed.take() == [(NODE_ID, {"max.connections": "3"}, {})]
    node.settle()
    assert obeyed.take() == [(NODE_ID, {"max.connections": "4"}, {})]


def test_changes_of_the_node_and_of_the_cluster_are_reported_once() -> None:
    node, obeyed = lone_node()
    steps = [
        (alteration(OWN, max_connections="3"), [(NODE_ID, {"max.connections": "3"}, {})]),
        (alteration(OWN, max_connections="3"), []),
        (alteration("3001", max_connections="9"), []),
        (
            alteration(CLUSTER_DEFAULT, max_connections="5"),
            [(NODE_ID, {"max.connections": "3"}, {"max.connections": "5"})],
        ),
        (alteration(OWN, max_connections=None), [(NODE_ID, {}, {"max.connections": "5"})]),
        (alteration(CLUSTER_DEFAULT, max_connections=None), [(NODE_ID, {}, {})]),
    ]
    for request, expected in steps:
        node.ask(request, IncrementalAlterConfigsResponse)
        assert obeyed.take() == expected


def test_after_a_start_only_the_last_configs_are_obeyed() -> None:
    node, obeyed = lone_node()
    for value in ("3", "4", "5"):
        node.ask(alteration(OWN, max_connections=value), IncrementalAlterConfigsResponse)
    obeyed.take()
    node.restart()
    node.settle()
    assert obeyed.take() == [(NODE_ID, {"max.connections": "5"}, {})]


def test_configs_of_a_snapshot_are_obeyed() -> None:
    node, obeyed = lone_node(snapshot_bytes=2_000)
    node.ask(alteration(OWN, max_connections="3"), IncrementalAlterConfigsResponse)
    while not node.snapshot_ids():
        node.ask(alteration("", log_cleaner_threads="2"), IncrementalAlterConfigsResponse)
    obeyed.take()
    node.restart()
    node.settle()
    assert [(own, cluster) for _, own, cluster in obeyed.take()] == [
        ({"max.connections": "3"}, {"log.cleaner.threads": "2"})
    ]


def test_what_a_power_failure_takes_away_was_never_obeyed() -> None:
    """Whatever survives, what is obeyed in the end is what is committed."""
    for seed in range(6):
        node, obeyed = lone_node(seed=seed)
        node.ask(alteration(OWN, max_connections="3"), IncrementalAlterConfigsResponse)
        for value in ("4", "5"):
            node.send(alteration(OWN, max_connections=value))
        node.run_for(0)
        assert obeyed.take() == [(NODE_ID, {"max.connections": "3"}, {})]
        node.restart()
        node.settle()
        committed = node.controller.image.configurations.config(BROKER, OWN)
        assert [own for _, own, _ in obeyed.take()] == [committed]


def test_every_controller_obeys_and_continues_after_failovers() -> None:
    with quorums() as start_quorum:
        quorum = start_quorum(11, [1, 2, 3])
        obeyed = Obeyed(*quorum.running())
        expected: dict[int, dict[str, str]] = {1: {}, 2: {}, 3: {}}
        cluster: dict[str, str] = {}
        rng = random.Random(5)
        leaders: set[int] = set()
        for number in range(8):
            leader = quorum.led()
            leaders.add(leader.node_id)
            name = rng.choice(["", "1", "2", "3"])
            value = rng.choice([None, "7", str(number + 1)])
            configs = expected[int(name)] if name else cluster
            configs.pop("max.connections", None)
            if value is not None:
                configs["max.connections"] = value
            client = DirectClient(leader)
            asked = client.send(alteration(name, max_connections=value))
            quorum.run_for(1_500)
            answer = client.answers[asked]
            assert isinstance(answer, IncrementalAlterConfigsResponse)
            assert answer.responses[0].error_code == Errors.NONE
            last = {node_id: (own, of_all) for node_id, own, of_all in obeyed.seen}
            for node_id, own in expected.items():
                assert last.get(node_id, ({}, {})) == (own, cluster), (number, node_id)
                shown = quorum.processes[node_id].controller.state.dynamic_config
                kept = {key: value for key, value in shown.cluster.items() if key != "min.insync.replicas"}
                assert (shown.own, kept) == (own, cluster), (number, node_id)
            leader.loop.offer(ResignRequested(leader.raft.epoch))
            quorum.run_for(6_000)
        assert len(leaders) > 1


def test_a_standby_changes_levels_of_its_own_loggers_only() -> None:
    with quorums() as start_quorum:
        quorum = start_quorum(12, [1, 2, 3])
        obeyed = Obeyed(*quorum.running())
        leader = quorum.led()
        standby = next(process for process in quorum.running() if process is not leader)
        own, other = str(standby.node_id), str(leader.node_id)
        level = {"kraftctl_raft": "DEBUG"}
        with_configs = alteration(own, BROKER_LOGGER, **level)
        with_configs.resources += alteration("", max_connections="3").resources
        client = DirectClient(standby)
        asked = [
            client.send(request)
            for request in (
                alteration(own, BROKER_LOGGER, **level),
                alteration(other, BROKER_LOGGER, **level),
                with_configs,
                alteration("", max_connections="3"),
            )
        ]
        quorum.run_for(1_000)
        codes = []
        for call in asked:
            answer = client.answers[call]
            assert isinstance(answer, IncrementalAlterConfigsResponse)
            codes.append([Errors(each.error_code) for each in answer.responses])
        refused = Errors.NOT_CONTROLLER
        assert codes == [[Errors.NONE], [Errors.INVALID_REQUEST], [refused, refused], [refused]]
        assert obeyed.levels == [(standby.node_id, {"kraftctl.raft": "DEBUG"})]
