"""What a cluster lacks of a plan: only what is missing is done, and when it is done nothing is left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftctl_spark.restore.cluster_state import ClusterState, ResourceConfig, TopicReplicas
from kraftctl_spark.restore.comparison import compare
from kraftctl_spark.restore.difference import StateChange, brokers_not_known, changes_between
from kraftctl_spark.restore.plan import INTERNAL, PlannedConfig, PlannedTopic, plan_of
from tests.spark.restore.restored_states import (
    ACL,
    BROKERS,
    CLEANERS,
    OF_ALL,
    PASSWORD,
    QUOTA,
    RETENTION,
    SMALL,
    random_state,
)

PLAN = plan_of(SMALL, offset=7, time="", with_replicas=False)
WITH_REPLICAS = plan_of(SMALL, offset=7, time="", with_replicas=True)
EMPTY = ClusterState("empty", brokers=BROKERS)
SEEDS = range(100)


def with_config(config: ResourceConfig, value: str | None) -> ClusterState:
    return replace(SMALL, configs={**SMALL.configs, config: value})


def without(name: str) -> ClusterState:
    return replace(SMALL, **{name: type(getattr(SMALL, name))()})


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cluster_lacks_nothing_of_its_own_plan(seed: int) -> None:
    state = random_state(seed)
    found = compare(plan_of(state, offset=0, time="", with_replicas=True), state)
    assert (found.missing, found.differing, found.not_possible) == ((), (), ())
    assert changes_between(state, state) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_an_empty_cluster_lacks_all_of_it(seed: int) -> None:
    state = random_state(seed)
    plan = plan_of(state, offset=0, time="", with_replicas=True)
    found = compare(plan, ClusterState("empty", brokers=BROKERS))
    of_topics = sum(one.config.resource_type == "TOPIC" for one in plan.configs)
    lists = (plan.topics, plan.configs, plan.acls, plan.quotas)
    assert len(found.missing) == sum(map(len, lists)) - of_topics
    assert (found.differing, found.not_possible, found.notes) == ((), (), ())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_difference_is_the_same_backwards(seed: int) -> None:
    one, other = random_state(seed), random_state(seed + 1)
    backwards = [
        change._replace(before=change.after, after=change.before) for change in changes_between(other, one)
    ]
    assert changes_between(one, other) == backwards


MISSING = [
    pytest.param(
        without("topics"),
        ["create topic orders: 3 partitions, replication factor 2, retention.ms=1000"],
        id="topic-with-its-configs",
    ),
    pytest.param(
        ClusterState("new", topics={"__consumer_offsets": TopicReplicas(((1,),))}, brokers=BROKERS),
        [
            f"set {OF_ALL}=86400000",
            f"set {CLEANERS}=2",
            f"create ACL {ACL}",
            f"set quota {QUOTA}=1024.5",
            "create topic orders: 3 partitions, replication factor 2, retention.ms=1000",
        ],
        id="all-of-it-in-a-cluster-without-topics",
    ),
]


@pytest.mark.parametrize(("live", "expected"), MISSING)
def test_what_is_missing_is_to_be_done(live: ClusterState, expected: list[str]) -> None:
    found = compare(PLAN, live)
    assert list(map(str, found.to_do(change_existing=False))) == expected
    assert found.left(change_existing=False) == []


GROUP, METRICS = (
    ResourceConfig("GROUP", "g", "share.auto.offset.reset"),
    ResourceConfig("CLIENT_METRICS", "m", "interval.ms"),
)


def without_config(config: ResourceConfig) -> ClusterState:
    return replace(SMALL, configs={key: value for key, value in SMALL.configs.items() if key != config})


DIFFERING = [
    pytest.param(with_config(RETENTION, "5"), f"set {RETENTION}=1000", "5", id="value"),
    pytest.param(without_config(RETENTION), f"set {RETENTION}=1000", "not set", id="retention-of-a-topic"),
    pytest.param(without_config(OF_ALL), f"set {OF_ALL}=86400000", "not set", id="retention-of-all"),
    pytest.param(without_config(CLEANERS), f"set {CLEANERS}=2", "not set", id="config-of-a-broker"),
    pytest.param(without("quotas"), f"set quota {QUOTA}=1024.5", "not set", id="no-quota"),
    pytest.param(without("acls"), f"create ACL {ACL}", "not there", id="no-acl"),
    pytest.param(with_config(CLEANERS, None), f"set {CLEANERS}=2", "not shown", id="hidden"),
    pytest.param(replace(SMALL, quotas={QUOTA: 1.0}), f"set quota {QUOTA}=1024.5", "1.0", id="quota"),
    pytest.param(
        replace(SMALL, topics={"orders": TopicReplicas(((1, 2),))}),
        "add partitions to topic orders, up to 3",
        "1 now",
        id="partitions",
    ),
]


@pytest.mark.parametrize(("live", "operation", "present"), DIFFERING)
def test_what_differs_is_changed_only_on_request(live: ClusterState, operation: str, present: str) -> None:
    found = compare(PLAN, live)
    assert found.to_do(change_existing=False) == []
    assert found.left(change_existing=False) == [f"{operation} (it is {present}): --change-existing does it"]
    assert list(map(str, found.to_do(change_existing=True))) == [operation]
    assert found.left(change_existing=True) == []


@pytest.mark.parametrize("config", [GROUP, METRICS])
def test_what_clients_rely_on_is_changed_only_on_request(config: ResourceConfig) -> None:
    found = compare(plan_of(with_config(config, "1"), offset=7, time="", with_replicas=False), SMALL)
    assert list(map(str, found.differing)) == [f"set {config}=1 (it is not set)"]
    assert found.missing == ()


NOT_POSSIBLE = [
    pytest.param(
        replace(SMALL, topics={"orders": TopicReplicas(((1, 2),) * 4)}),
        "topic orders has 4 partitions, the plan 3: none can be removed",
        id="partitions",
    ),
    pytest.param(
        replace(SMALL, topics={"orders": TopicReplicas(((1,),) * 3)}),
        "topic orders has replication factor 1, the plan 2: kafka-reassign-partitions changes it",
        id="replication-factor",
    ),
    pytest.param(
        replace(SMALL, acls=None), f"create ACL {ACL}: the cluster has no authorizer", id="authorizer"
    ),
    pytest.param(
        replace(SMALL, configs={RETENTION: "1000", OF_ALL: "86400000"}, brokers=frozenset([2])),
        f"set {CLEANERS}=2: there is no such broker; apply the plan again with it",
        id="broker",
    ),
]


@pytest.mark.parametrize(("live", "sentence"), NOT_POSSIBLE)
@pytest.mark.parametrize("change_existing", [False, True])
def test_what_cannot_be_done_is_said(live: ClusterState, sentence: str, change_existing: bool) -> None:
    found = compare(PLAN, live)
    assert found.to_do(change_existing=change_existing) == []
    assert found.left(change_existing=change_existing) == [sentence]


def test_a_config_of_a_topic_that_nobody_creates_cannot_be_set() -> None:
    found = compare(replace(PLAN, topics=()), replace(without("topics"), configs={}, quotas={}))
    assert list(found.not_possible) == [
        f"set {RETENTION}=1000: there is no such topic, and the plan has none"
    ]


def test_replicas_are_kept_where_all_of_their_brokers_exist() -> None:
    there, lacking = without("topics"), replace(without("topics"), brokers=frozenset([1, 2]))
    (kept,) = compare(WITH_REPLICAS, there).missing
    assert "on [[1, 2], [2, 3], [3, 1]]" in str(kept)
    found = compare(replace(WITH_REPLICAS, configs=()), lacking)
    (chosen,) = found.missing
    assert str(chosen) == "create topic orders: 3 partitions, replication factor 2"
    assert found.notes == (
        "topic orders: the cluster chooses its brokers, because it has not all of those in the plan: 3 not",
    )


def test_partitions_with_different_numbers_of_replicas_are_placed_by_the_cluster() -> None:
    state = replace(EMPTY, topics={"t": TopicReplicas(((1, 2, 3), (1, 2)))})
    found = compare(plan_of(state, offset=7, time="", with_replicas=True), EMPTY)
    assert list(map(str, found.missing)) == ["create topic t: 2 partitions, replication factor 3"]
    (note,) = found.notes
    assert note.endswith("its partitions have different numbers of replicas in the plan, which Kafka refuses")


def test_internal_topics_stay_as_they_are() -> None:
    offsets, config = (
        {"__consumer_offsets": TopicReplicas(((1,),) * 100)},
        {ResourceConfig("TOPIC", "__consumer_offsets", "cleanup.policy"): "compact"},
    )
    plan = plan_of(replace(EMPTY, topics=offsets, configs=config), offset=7, time="", with_replicas=False)
    assert (plan.topics, plan.configs) == ((), ())
    assert [one.what for one in plan.not_restored] == [
        "topic __consumer_offsets: 100 partitions, replication factor 1",
        "config TOPIC __consumer_offsets cleanup.policy=compact",
    ]
    edited = replace(
        plan,
        topics=(PlannedTopic("__consumer_offsets", 100, 1),),
        configs=tuple(PlannedConfig(*one) for one in config.items()),
    )
    for live in EMPTY, replace(EMPTY, topics={"__consumer_offsets": TopicReplicas(((1,),) * 50)}):
        found = compare(edited, live)
        assert found.to_do(change_existing=True) == []
        assert found.not_possible[-1] == f"topic __consumer_offsets: {INTERNAL}"


def test_changes_have_both_values() -> None:
    after = replace(with_config(RETENTION, "5"), topics={}, quotas={})
    assert list(map(str, changes_between(SMALL, after))) == [
        f"~ config {RETENTION}: 1000 -> 5",
        f"- quota {QUOTA}: 1024.5",
        "- topic orders: 3 partitions, replication factor 2",
    ]


def test_a_topic_that_was_created_again_or_moved_is_a_change() -> None:
    def with_topic(topic_id: str, *replicas: tuple[int, ...]) -> ClusterState:
        return replace(SMALL, topics={"orders": TopicReplicas(replicas, topic_id)})

    before = with_topic("A", (1, 2), (2, 3))
    again, moved = with_topic("B", (1, 2), (3, 1)), with_topic("A", (1, 2), (3, 1))
    assert list(map(str, changes_between(before, again))) == ["~ topic id orders: A -> B"]
    assert list(map(str, changes_between(before, moved))) == ["~ replicas orders-1: 2,3 -> 3,1"]
    assert changes_between(before, replace(again, cluster_id="other")) == []


def test_configs_of_a_stopped_broker_are_not_known() -> None:
    after = replace(SMALL, brokers=frozenset([2, 3]), configs={RETENTION: "1000", OF_ALL: "86400000"})
    assert changes_between(SMALL, after) == []
    assert brokers_not_known(SMALL, after) == [1]
    assert brokers_not_known(SMALL, SMALL) == []


def test_a_value_that_is_not_shown_is_no_change_unless_it_is_new() -> None:
    assert changes_between(SMALL, with_config(PASSWORD, "x")) == []
    hidden = {key: value for key, value in SMALL.configs.items() if key != PASSWORD}
    assert changes_between(replace(SMALL, configs=hidden), SMALL) == [
        StateChange("config", str(PASSWORD), None, "(not shown)")
    ]
