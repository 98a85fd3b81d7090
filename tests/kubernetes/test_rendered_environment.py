"""The manifests in deploy/kubernetes/ are run: each pod's commands with its variables, as processes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from tests.kubernetes.kubernetes_tools import CHART, PLAIN
from tests.kubernetes.pods import READY_SECONDS_MAX, Pods, await_ready, ended, runnable, start, voters
from tests.support.processes.clients import create_topic
from tests.support.processes.kafka import JavaBroker, kafka

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1900)]


def brokers_of(pods: Pods, directory: Path, cluster_id: str) -> list[JavaBroker]:
    """Brokers with the keys that the notes of the chart name; a JVM reads the names from the same file."""
    found = []
    for node_id in (1, 2, 3):
        quorum = {"controller.quorum.bootstrap.servers": pods.bootstrap()}
        broker = JavaBroker(kafka(), node_id, directory / f"broker-{node_id}", cluster_id, quorum)
        broker.environment["JDK_JAVA_OPTIONS"] = f"-Djdk.net.hosts.file={pods.hosts}"
        broker.format()
        found.append(broker)
    return found


@pytest.fixture
def pods(tmp_path: Path) -> Iterator[Pods]:
    with ended(Pods(tmp_path / "pods", runnable(PLAIN.read_text(), random_id()))) as found:
        yield found


def test_three_pods_become_a_quorum_and_are_restarted_one_by_one(pods: Pods) -> None:
    start(pods)
    all_pods = list(pods.by_ordinal.values())
    await_ready(*all_pods)
    before = voters(all_pods[0])
    assert sorted(before) == pods.ordinals
    notes = (CHART / "templates" / "NOTES.txt").read_text().replace("\\\n", "")
    (words,) = re.findall(
        r"-- +(kraftctl health --bootstrap-controllers) \{\{.*?\}\} +(--command-config \S+)", notes
    )
    asked = " ".join([words[0], all_pods[0].addresses, words[1]]).split()
    assert all_pods[0].run(*asked[1:]).stdout.startswith("QUORUM HEALTHY")
    for pod in reversed(all_pods):
        assert pod.stop() == 0
        pod.start()
        await_ready(pod)
    assert voters(all_pods[0]) == before
    all_pods[0].kill()
    # The leader counts on a voter until its next Fetch is late, and 3000 may have been the leader.
    gate = {"RESTART_GATE_SECONDS": "1"}
    refused = await_result(
        lambda: found if "Missing: 3000" in (found := all_pods[1].pre_stop(gate)).stderr else None,
        "refused",
        60.0,
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "stopped after 1 s all the same" in refused.stderr


@pytest.mark.interop
def test_brokers_join_and_stay_while_the_leader_is_replaced(tmp_path: Path) -> None:
    cluster_id = random_id()
    with ended(Pods(tmp_path / "pods", runnable(PLAIN.read_text(), cluster_id))) as pods:
        start(pods)
        brokers = brokers_of(pods, tmp_path, cluster_id)
        try:
            for broker in brokers:
                broker.start(wait=False)
            for broker in brokers:
                broker.await_ready()
            create_topic(brokers[0].address, "before")
            await_ready(*pods.by_ordinal.values())
            leader = pods.by_ordinal[pods.ordinals[0]]
            assert leader.stop() == 0
            create_topic(brokers[1].address, "after")
            leader.start()
            await_ready(leader)
        finally:
            for broker in brokers:
                broker.kill()


def test_a_lost_volume_of_the_first_pod_begins_no_second_quorum(pods: Pods) -> None:
    start(pods)
    first, *others = pods.by_ordinal.values()
    await_ready(first, *others)
    before = voters(first)
    for pod in pods.by_ordinal.values():
        pod.kill()
    first.lose_volume()
    first.start()
    assert first.process is not None
    first.process.await_line("waiting until", READY_SECONDS_MAX)
    for pod in others:
        pod.start()
    await_ready(first, *others)
    after = voters(others[0])
    assert sorted(after) == pods.ordinals
    assert after[first.ordinal] != before[first.ordinal]
    assert {pod.ordinal: after[pod.ordinal] for pod in others} == {
        pod.ordinal: before[pod.ordinal] for pod in others
    }


def test_three_become_five_and_four(tmp_path: Path) -> None:
    with ended(Pods(tmp_path / "pods", runnable(PLAIN.read_text(), random_id()), replicas=5)) as pods:
        *three, fourth, fifth = pods.by_ordinal.values()
        for pod in three:
            pod.start()
        await_ready(*three)
        for pod in (fourth, fifth):
            pod.start()
        await_ready(*three, fourth, fifth)
        found = voters(fifth)
        assert sorted(found) == pods.ordinals
        assert fifth.stop() == 0
        removed = three[0].run(
            *("quorum", "--bootstrap-controller", fourth.addresses, "remove-controller"),
            *("-i", str(fifth.ordinal), "-d", found[fifth.ordinal]),
        )
        assert removed.returncode == 0, removed.stdout + removed.stderr
        assert sorted(voters(fourth)) == pods.ordinals[:-1]


def everything_in(directory: Path) -> dict[str, bytes | None]:
    return {
        str(each.relative_to(directory)): each.read_bytes() if each.is_file() else None
        for each in sorted(directory.rglob("*"))
    }


@pytest.mark.parametrize("changed", ["cluster-id", "node-id"])
def test_a_volume_of_another_cluster_or_node_is_refused_as_it_is(changed: str, pods: Pods) -> None:
    _, second, third = pods.by_ordinal.values()
    second.start()
    await_result(lambda: second.probe("liveness") == 200, "it runs", READY_SECONDS_MAX)
    second.kill()
    pod, said = second, "is already formatted, for the cluster"
    if changed == "cluster-id":
        other = random_id()
        for each in (*pod.template["initContainers"], pod.container):
            (variable,) = [found for found in each["env"] if found["name"] == "CLUSTER_ID"]
            variable["value"] = other
    else:
        pod, said = third, "3002"
        third.lose_volume()
        shutil.copytree(second.volume, third.volume, dirs_exist_ok=True)
    before = everything_in(pod.volume)
    pod.start()
    assert pod.process is not None
    assert pod.process.wait(READY_SECONDS_MAX) == 1
    assert said in (pod.directory / "output").read_text()
    assert everything_in(pod.volume) == before
