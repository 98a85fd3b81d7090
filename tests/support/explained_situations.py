"""Writes logs of clusters in which something is wrong, or nothing is."""

from __future__ import annotations

from kraftctl.explain.evidence import BrokerContact
from tests.support.explained_log import ExplainedLog, change, directory, partition


def only_replica_fenced(log: ExplainedLog) -> None:
    log.brokers(3)
    log.topic("solo", partition([3]))
    log.fence(3, change("solo", 0, leader=-1, isr=[], eligible_leader_replicas=[3]))
    log.contacts[3] = BrokerContact(heartbeat_age_ms=9_000, metadata_offset=100)
    log.fetched(3, 93_000)


def directory_lost(log: ExplainedLog) -> None:
    log.brokers(1, directories=2)
    log.topic("orders", partition([1]))
    log.write(change("orders", 0, leader=-1))
    log.lose_directory(1, left=[1])


def last_leader_available(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], isr=[1]))
    log.write(change("orders", 0, isr=[], leader=-1, last_known_elr=[1]))


def unclean_election(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], isr=[2], leader=2, leader_recovery_state=1))


def electable(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], isr=[2], leader=-1))


def under_min_isr(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2]))
    log.config("min.insync.replicas", "2", topic="orders")
    log.fence(2, change("orders", 0, isr=[1]))


def under_replicated_leaving(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2]))
    log.leave(2, change("orders", 0, isr=[1]))


def preferred_in_sync(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], leader=2))


def healthy(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2]), partition([2, 1]))


def session_expired(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2]))
    log.fence(1, change("orders", 0, isr=[2], leader=2))


def session_expired_and_fetched(log: ExplainedLog) -> None:
    session_expired(log)
    log.fetched(1, 10_000)


def fenced_but_fetching(log: ExplainedLog) -> None:
    log.brokers(1)
    log.fence(1)
    log.fetched(1, 400)


def fenced_but_heard(log: ExplainedLog) -> None:
    session_expired(log)
    log.fetched(1, 30_000, end=60)
    log.contacts[1] = BrokerContact(heartbeat_age_ms=500, metadata_offset=104)


def fenced_in_a_snapshot_but_fetching(log: ExplainedLog) -> None:
    log.in_snapshot = True
    log.register(1)
    log.fetched(1, 400, end=60)


def fenced_in_a_snapshot_but_heard(log: ExplainedLog) -> None:
    fenced_in_a_snapshot_but_fetching(log)
    log.contacts[1] = BrokerContact(heartbeat_age_ms=900, metadata_offset=59)


def fenced_in_a_snapshot_and_unheard(log: ExplainedLog) -> None:
    fenced_in_a_snapshot_but_fetching(log)
    log.contacts[1] = BrokerContact(heartbeat_age_ms=None, metadata_offset=None)


def shut_down(log: ExplainedLog) -> None:
    log.brokers(1)
    log.leave(1)
    log.fence(1)


def not_caught_up(log: ExplainedLog) -> None:
    log.register(1)
    log.fetched(1, 200, end=60)


def never_ready(log: ExplainedLog) -> None:
    log.register(1)
    log.fetched(1, 200, end=101)


def ended_at_start(log: ExplainedLog) -> None:
    log.register(1)
    log.fetched(1, 30_000, end=60)


def broker_unregistered(log: ExplainedLog) -> None:
    log.brokers(1)
    log.unregister(1)


def one_directory_failed(log: ExplainedLog) -> None:
    log.brokers(1, directories=3)
    log.lose_directory(1, left=[0, 2])


def leaving_with_leaderships(log: ExplainedLog) -> None:
    log.brokers(1)
    log.topic("solo", partition([1]))
    log.leave(1)


def leaving_waits_for_others(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2]))
    log.leave(1, change("orders", 0, leader=2, isr=[2]))
    log.contacts[2] = BrokerContact(heartbeat_age_ms=200, metadata_offset=103)
    log.contacts[1] = BrokerContact(heartbeat_age_ms=200, metadata_offset=90)


def leaving_in_a_snapshot(log: ExplainedLog) -> None:
    log.brokers(1)
    log.in_snapshot = True
    log.leave(1)


def restarted_without_a_directory(log: ExplainedLog) -> None:
    """One replica is in the directory that is left, one is in none, and one is in another."""
    log.brokers(1, directories=2)
    places = (directory(1), bytes(15) + b"\x02", directory(1, 1))
    log.topic("orders", *[partition([1], directories=[each]) for each in places])
    log.brokers(1)


def reassigning(log: ExplainedLog) -> None:
    log.brokers(1, 2)
    log.topic("orders", partition([1]))
    log.write(
        change(
            "orders",
            0,
            replicas=[2, 1],
            adding_replicas=[2],
            removing_replicas=[1],
            directories=[directory(2), directory(1)],
        )
    )


def adding_is_fenced(log: ExplainedLog) -> None:
    reassigning(log)
    log.fence(2)


def level_30(log: ExplainedLog) -> None:
    log.feature("metadata.version", 30)
    log.voters(1)


def ghost_limits(log: ExplainedLog) -> None:
    level_30(log)
    log.controllers(1, levels=(7, 33))
    log.controllers(9)
    log.brokers(2, levels=(7, 33))


def known_ghost_limits(log: ExplainedLog) -> None:
    ghost_limits(log)
    log.fetched(1, 0, voter=True)
    log.fetched(2, 100)


def ghost_at_33(log: ExplainedLog) -> None:
    log.feature("metadata.version", 33)
    log.voters(1)
    log.controllers(1, levels=(7, 33))
    log.controllers(9)
    log.fetched(1, 0, voter=True)


def voter_limits(log: ExplainedLog) -> None:
    level_30(log)
    log.voters(1, 2)
    log.controllers(1, levels=(7, 33))
    log.controllers(2)


def can_be_raised(log: ExplainedLog) -> None:
    level_30(log)
    log.controllers(1, levels=(7, 33))


def at_the_top(log: ExplainedLog) -> None:
    level_30(log)
    log.controllers(1)


def voters_not_known(log: ExplainedLog) -> None:
    """As after the snapshot of a static quorum."""
    log.feature("metadata.version", 30)
    log.controllers(9)


def running_observer(log: ExplainedLog) -> None:
    ghost_at_33(log)
    log.fetched(9, 300)


def silent_voter(log: ExplainedLog) -> None:
    log.feature("metadata.version", 30)
    log.voters(1, 2, 3)
    log.controllers(1, 2, 3)
    log.fetched(1, 0, voter=True)
    log.fetched(2, 60_000, voter=True, end=50, behind_ms=60_000)
    log.fetched(3, 100, voter=True, end=104)


def replaced_disk(log: ExplainedLog) -> None:
    silent_voter(log)
    log.returned_ids = frozenset((2,))


def lagging_voter(log: ExplainedLog) -> None:
    log.voters(1, 2)
    log.fetched(1, 0, voter=True)
    log.fetched(2, 100, voter=True, end=50, behind_ms=40_000)


def sound_quorum(log: ExplainedLog) -> None:
    log.voters(1, 2)
    log.fetched(1, 0, voter=True)
    log.fetched(2, 100, voter=True, end=104)
