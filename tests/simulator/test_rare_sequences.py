"""Each sequence of rare events goes to its end in a cluster that is well, and harms nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftctl.server.loop.executor_protocols import RetentionDue
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.faults.operator import Operator
from tests.support.simulator.faults.plan import SEQUENCES, Happening, Plan, draw_plan
from tests.support.simulator.faults.rare_sequences import RareSequences
from tests.support.simulator.simulation import Simulation


def plan_with(kind: str, *, voters: int = 3, changes_voters: bool = False, observers: int = 0) -> Plan:
    """Without any other fault."""
    plan = next(
        plan
        for seed in range(1_000)
        if len((plan := draw_plan(seed, "sequences")).voter_ids) == voters
        and plan.changes_voters is changes_voters
        and plan.dynamic
        and len(plan.observer_ids) >= observers
        and plan.duration_ms == 20_000
    )
    calm = plan.calmed(frozenset(("links", "disks", "clocks", "releases")))
    return replace(calm, happenings=(Happening(3_000, kind, 7),))


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(plan_with("leaders in turn"), id="leaders-in-turn"),
        pytest.param(plan_with("candidate loses records"), id="candidate-loses-records"),
        pytest.param(plan_with("candidate loses records", voters=5), id="candidate-of-five-loses-records"),
        pytest.param(
            plan_with("leader of two leaves", voters=2, changes_voters=True), id="leader-of-two-leaves"
        ),
        pytest.param(plan_with("leader of two leaves", changes_voters=True), id="leader-of-three-leaves"),
        pytest.param(
            plan_with("leader alone changes voters", changes_voters=True), id="leader-alone-changes-voters"
        ),
        pytest.param(plan_with("download alone"), id="download-alone"),
    ],
)
def test_a_sequence_goes_to_its_end(plan: Plan) -> None:
    simulation = Simulation(plan)
    simulation.run()
    assert simulation.counts[f"{plan.happenings[0].kind}: to the end"] == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_voter_that_joins_counts_for_a_removal_beside_voters_that_are_down(seed: int) -> None:
    plan = plan_with("remove voter while others are down", changes_voters=True, observers=1)
    simulation = Simulation(replace(plan, happenings=(replace(plan.happenings[0], seed=seed),)))

    def join() -> None:
        simulation.operator.add_voter(plan.observer_ids[0])

    simulation.cluster.time.call_at(3_500_000, join)
    simulation.run()
    assert simulation.counts["voters changed"] > 0


def test_a_follower_whose_leader_lacks_records_ends_itself() -> None:
    simulation = Simulation(plan_with("leader lacks records"))
    simulation.run()
    assert simulation.counts["processes failed"] == 1


def test_every_sequence_is_tried() -> None:
    runs = [draw_plan(seed, "sequences") for seed in range(40)]
    assert {happening.kind for plan in runs for happening in plan.happenings} >= set(SEQUENCES)


def test_a_transaction_ends_once_the_loop_of_the_leader_does_not_wait_for_its_disk() -> None:
    """Until then its image would have a record that its log does not have."""
    cluster = Cluster(1, [1, 2, 3], dynamic=True)
    sequences = RareSequences(plan_with("leaders in turn"), cluster, Operator(cluster))
    with cluster.files.attach():
        cluster.start()
        leader = cluster.await_active()
        leader.write(BeginTransactionRecord(name="left open"))
        cluster.run_for(1_000)
        leader.set_speed(lambda _rng: 200_000)
        leader.loop.offer(RetentionDue())
        sequences.end_transaction()
        assert leader.controller.image.journal.transaction_start is not None
        cluster.checks.checkpoint(cluster.running())
        cluster.run_for(1_000)
        assert leader.controller.image.journal.transaction_start is None
        cluster.checks.checkpoint(cluster.running())
