"""Who is closed when connections hold too many bytes: never the one that is about to finish."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kraftctl.server.connections.byte_budget import ByteBudget


class Holder:
    def __init__(self, peer_host: str = "10.0.0.1") -> None:
        self.peer_host = peer_host


def test_nobody_loses_at_the_limit_and_somebody_one_byte_above_it() -> None:
    budget: ByteBudget[Holder] = ByteBudget(100)
    first, second = Holder(), Holder()
    budget.hold(first, 60, 0.0)
    budget.hold(second, 40, 0.0)
    assert budget.losers(1.0) == []
    budget.hold(second, 41, 0.0)
    assert budget.losers(1.0) == [first]


def test_what_was_let_go_does_not_count() -> None:
    budget: ByteBudget[Holder] = ByteBudget(100)
    first, second = Holder(), Holder()
    budget.hold(first, 90, 0.0)
    budget.hold(first, 0, 1.0)
    budget.hold(second, 90, 1.0)
    assert (budget.held_bytes, budget.losers(2.0)) == (90, [])
    assert (budget.held_by(first), budget.held_by(second)) == (0, 90)


def test_an_address_that_holds_nothing_is_forgotten() -> None:
    """IPv6 has many."""
    budget: ByteBudget[Holder] = ByteBudget(100)
    holders = [Holder("10.0.0.1"), Holder("10.0.0.1"), Holder("10.0.0.2")]
    for holder in holders:
        budget.hold(holder, 10, 0.0)
    assert budget.addresses_count == 2
    for holder in holders:
        budget.hold(holder, 0, 1.0)
    assert budget.addresses_count == 0


def test_a_hoarder_loses_and_not_the_honest_client_that_came_last() -> None:
    budget: ByteBudget[Holder] = ByteBudget(200)
    hoarders = [Holder() for _ in range(10)]
    for number, hoarder in enumerate(hoarders):
        budget.hold(hoarder, 20, float(number))
    honest = Holder()
    budget.hold(honest, 10, 10.0)
    losers = budget.losers(10.1)
    assert losers == hoarders[: len(losers)]
    assert honest not in losers


def test_a_new_request_of_a_connection_pays_no_rent_for_the_ones_before() -> None:
    budget: ByteBudget[Holder] = ByteBudget(100)
    busy, hoarder = Holder(), Holder()
    budget.hold(busy, 50, 0.0)
    budget.hold(hoarder, 50, 5.0)
    budget.hold(busy, 51, 9.0, renewed=True)
    assert budget.losers(10.0) == [hoarder]


def test_an_address_that_holds_little_is_spared_however_slow_it_is() -> None:
    budget: ByteBudget[Holder] = ByteBudget(800)
    slow = Holder("10.0.0.2")
    budget.hold(slow, 100, 0.0)
    greedy = [Holder("10.0.0.3") for _ in range(71)]
    for holder in greedy:
        budget.hold(holder, 10, 1_000.0)
    losers = budget.losers(1_000.0)
    assert losers
    assert slow not in losers


def test_voters_lose_after_everybody_else() -> None:
    budget: ByteBudget[Holder] = ByteBudget(800)
    voter, spared, greedy = Holder("10.0.0.1"), Holder("10.0.0.2"), Holder("10.0.0.3")
    budget.hold(voter, 700, 0.0)
    budget.hold(spared, 50, 0.0)
    budget.hold(greedy, 300, 9.0)
    assert budget.losers(10.0, [voter]) == [greedy]
    budget.hold(voter, 900, 0.0)
    assert budget.losers(10.0, [voter]) == [greedy, spared, voter]


def test_many_addresses_that_each_hold_little_cannot_hold_too_much_together() -> None:
    budget: ByteBudget[Holder] = ByteBudget(800)
    holders = [Holder(f"10.0.0.{number}") for number in range(81)]
    for number, holder in enumerate(holders):
        budget.hold(holder, 10, float(number))
    assert budget.losers(100.0) == holders[:1]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60), st.integers(0, 100)), max_size=40))
def test_without_the_losers_the_rest_is_always_within_the_budget(
    held: list[tuple[int, int, int]],
) -> None:
    budget: ByteBudget[Holder] = ByteBudget(100)
    for address, size_bytes, since in held:
        budget.hold(Holder(f"10.0.0.{address}"), size_bytes, float(since))
    losers = budget.losers(101.0)
    for loser in losers:
        assert budget.held_by(loser) > 0
        budget.hold(loser, 0, 101.0)
    assert budget.held_bytes <= 100
    assert budget.losers(101.0) == []
