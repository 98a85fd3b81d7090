"""What delays a restore, or has ended an attempt before it: nothing that is done later is refused for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import pytest

from kraftctl_spark.restore import changes
from kraftctl_spark.restore.changes import carry_out
from kraftctl_spark.restore.cluster_state import ClusterState, NamedAcl, TopicReplicas
from kraftctl_spark.restore.comparison import RIGHTS_MAY_END, compare
from kraftctl_spark.restore.connection import open_admin
from kraftctl_spark.restore.operations import AddPartitions, CreateTopic, Operation
from kraftctl_spark.restore.plan import PlannedTopic, plan_of
from tests.spark.restore.fake_broker import FakeCluster

ONE = TopicReplicas(((1,),))
NAMES = [f"t{number}" for number in range(5)]
CREATED: list[Operation] = [CreateTopic(PlannedTopic(name, 2, 1), ()) for name in NAMES]
ADDED: list[Operation] = [AddPartitions(name, 2, 1) for name in NAMES]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "DESCRIBED_PAUSE_S", 0.001)


@pytest.mark.parametrize("operations", [CREATED, ADDED], ids=["topics", "partitions"])
def test_what_a_quota_refuses_is_repeated(operations: list[Operation]) -> None:
    """All but one topic of each request."""
    throttled = cycle([False, True])
    cluster = FakeCluster(is_throttled=lambda: next(throttled), throttle_ms=150)
    cluster.topics = {} if operations is CREATED else dict.fromkeys(NAMES, ONE)
    with cluster.serve() as node, open_admin(node.address, None) as client:
        assert [one.error for one in carry_out(client, operations)] == [None] * 5
    assert {len(topic.replicas) for topic in cluster.topics.values()} == {2}
    asked = [len(one.topics) for one in cluster.requests]
    assert asked[0] == 5
    assert len(asked) > 1


def test_what_is_always_throttled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "THROTTLED_MAX", 2)
    cluster = FakeCluster(is_throttled=lambda: True)
    with cluster.serve() as node, open_admin(node.address, None) as client:
        errors = [str(one.error) for one in carry_out(client, CREATED[:1])]
    assert [error.partition(":")[0] for error in errors] == ["THROTTLING_QUOTA_EXCEEDED"]


def test_partitions_that_an_attempt_with_a_lost_response_has_added_are_done() -> None:
    topics = {"t0": TopicReplicas(((1,), (1,))), "t1": TopicReplicas(((1,),) * 3), "t2": ONE}
    cluster = FakeCluster(topics=topics)
    with cluster.serve() as node, open_admin(node.address, None) as client:
        outcomes = list(carry_out(client, ADDED[:3]))
    assert [one.error and one.error.partition(":")[0] for one in outcomes] == [
        None,
        "INVALID_PARTITIONS",
        None,
    ]


def test_the_first_acl_on_the_cluster_is_noted() -> None:
    """With allow.everyone.if.no.acl.found it may end the rights of the restore itself."""
    acl = NamedAcl("CLUSTER", "kafka-cluster", "LITERAL", "User:alice", "*", "ALTER", "ALLOW")
    of_topic = acl._replace(resource_type="TOPIC", resource_name="t")
    state = ClusterState("one", acls=frozenset([acl, of_topic]))
    plan = plan_of(state, offset=1, time="", with_replicas=False)
    empty = ClusterState("empty")
    assert compare(plan, empty).notes == (RIGHTS_MAY_END,)
    assert compare(replace(plan, acls=(of_topic,)), empty).notes == ()
    assert compare(plan, replace(empty, acls=None)).notes == ()
    assert compare(plan, replace(empty, acls=frozenset([acl._replace(principal="User:b")]))).notes == ()
