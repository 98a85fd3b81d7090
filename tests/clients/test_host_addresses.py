"""The order in which addresses are tried: families in turn, what failed last, what served first."""

from __future__ import annotations

import socket
from random import Random

import pytest

from kraftctl_security.addresses.host_addresses import (
    ADDRESSES_MAX,
    ATTEMPT_DELAY_SECONDS,
    NAMED_MAX,
    REMEMBERED_MAX,
    Address,
    Failure,
    HostAddresses,
)
from kraftctl_security.addresses.known_hosts import HOSTS_MAX, KnownHost, KnownHosts


def v4(number: int) -> Address:
    return Address(socket.AF_INET, (f"10.0.{number // 256}.{number % 256}", 9093))


def v6(number: int) -> Address:
    return Address(socket.AF_INET6, (f"fd00::{number:x}", 9093, 0, 0))


def silent(at_s: float) -> Failure:
    return Failure("no response", 2.0, at_s)


def prompt(at_s: float) -> Failure:
    return Failure("refused", 0.001, at_s)


def known(*addresses: Address) -> HostAddresses:
    found = HostAddresses()
    found.resolved(addresses)
    return found


@pytest.mark.parametrize(
    ("found", "tried"),
    [
        pytest.param([], [], id="none"),
        pytest.param([v4(1), v4(1)], [v4(1)], id="the-same-twice"),
        pytest.param([v4(1), v4(2), v4(3)], [v4(1), v4(2), v4(3)], id="one-family"),
        pytest.param([v6(1), v6(2), v4(1), v4(2)], [v6(1), v4(1), v6(2), v4(2)], id="ipv6-first"),
        pytest.param([v4(1), v4(2), v6(1)], [v4(1), v6(1), v4(2)], id="ipv4-first"),
        pytest.param([v6(1), v6(2), v6(3), v4(1)], [v6(1), v4(1), v6(2), v6(3)], id="more-of-one"),
    ],
)
def test_families_take_turns(found: list[Address], tried: list[Address]) -> None:
    """RFC 8305, section 4: the family of the first address leads."""
    assert known(*found).to_try() == tried


def test_what_was_silent_is_tried_last_and_the_longest_ago_first_of_these() -> None:
    addresses = known(v4(1), v4(2), v4(3))
    addresses.failed(v4(1), silent(1.0))
    assert addresses.to_try() == [v4(2), v4(3), v4(1)]
    addresses.failed(v4(2), silent(2.0))
    addresses.failed(v4(3), silent(3.0))
    assert addresses.to_try() == [v4(1), v4(2), v4(3)]
    addresses.failed(v4(1), silent(4.0))
    assert addresses.to_try() == [v4(2), v4(3), v4(1)]


def test_what_refuses_delays_nothing_and_precedes_what_is_silent() -> None:
    addresses = known(v4(1), v4(2), v4(3))
    addresses.failed(v4(1), silent(1.0))
    addresses.failed(v4(2), prompt(2.0))
    assert addresses.to_try() == [v4(3), v4(2), v4(1)]
    addresses.failed(v4(2), Failure("unreachable", ATTEMPT_DELAY_SECONDS, 3.0))
    assert addresses.to_try() == [v4(3), v4(1), v4(2)]


def test_what_served_is_tried_first_until_it_fails() -> None:
    addresses = known(v4(1), v4(2), v4(3))
    addresses.failed(v4(3), silent(1.0))
    addresses.served(v4(3))
    assert addresses.to_try() == [v4(3), v4(1), v4(2)]
    assert addresses.reasons() == ""
    addresses.failed(v4(3), prompt(2.0))
    assert addresses.to_try() == [v4(1), v4(2), v4(3)]


def test_what_has_left_the_name_is_forgotten() -> None:
    """A pod has another address after each start; an old one may belong to another pod by then."""
    addresses = known(v4(1), v4(2))
    addresses.failed(v4(1), silent(1.0))
    addresses.served(v4(2))
    addresses.is_own(v4(2))
    addresses.resolved([v4(3)])
    assert addresses.to_try() == [v4(3)]
    addresses.failed(v4(1), silent(2.0))  # of an attempt that began before
    addresses.resolved([v4(1), v4(2), v4(3)])
    assert addresses.to_try() == [v4(1), v4(2), v4(3)]
    assert addresses.reasons() == ""


def test_own_addresses_are_left_out_when_there_are_others() -> None:
    addresses = known(v4(1), v4(2))
    assert addresses.is_whole()
    addresses.is_own(v4(1))
    assert addresses.to_try() == [v4(2)]
    assert not addresses.is_whole()
    addresses.is_own(v4(2))
    assert addresses.to_try() == [v4(1), v4(2)]
    assert addresses.is_whole()


def test_a_thousand_addresses_are_tried_in_turn() -> None:
    """Of which only a few are kept at a time, and only one answers."""
    thousand = [v4(number) for number in range(1_000)]
    addresses = known(*thousand)
    assert not addresses.is_whole()
    tried: set[Address] = set()
    for round_number in range(40):
        addresses.resolved(thousand)
        assert len(addresses.to_try()) == ADDRESSES_MAX
        for address in addresses.to_try():
            tried.add(address)
            addresses.failed(address, silent(float(round_number)))
    assert tried == set(thousand)


def test_what_is_remembered_of_a_name_is_bounded() -> None:
    many = [v4(number) for number in range(5_000)]
    addresses = known(*many)
    for round_number in range(20):
        addresses.resolved(many)
        for address in addresses.to_try():
            addresses.failed(address, silent(float(round_number)))
    assert len(addresses._failures) == REMEMBERED_MAX


def test_reasons_name_each_address_unless_there_is_one() -> None:
    one = known(v4(1))
    one.failed(v4(1), silent(1.0))
    assert one.reasons() == "no response"
    two = known(v4(1), v6(1))
    two.failed(v6(1), silent(1.0))
    two.failed(v4(1), prompt(1.0))
    assert two.reasons() == "10.0.0.1: refused; fd00::1: no response"
    many = known(*(v4(number) for number in range(NAMED_MAX + 3)))
    for address in many.to_try():
        many.failed(address, prompt(1.0))
    assert many.reasons().count("refused") == NAMED_MAX
    assert many.reasons().endswith("; and 3 more")


@pytest.mark.parametrize("seed", range(20))
def test_each_address_is_tried_again_whatever_happens(seed: int) -> None:
    """An attempt reaches the first few of the order; what is left is not always the same."""
    rng = Random(seed)
    addresses = known(*(v4(number) for number in range(9)), *(v6(number) for number in range(5)))
    last_tried = dict.fromkeys(addresses.to_try(), 0)
    for attempt in range(1, 400):
        for address in addresses.to_try()[: rng.randint(1, 4)]:
            last_tried[address] = attempt
            if rng.random() < 0.05:
                addresses.served(address)
                addresses.failed(address, silent(float(attempt)))
            else:
                addresses.failed(address, silent(float(attempt)))
        assert attempt - min(last_tried.values()) <= len(last_tried)


def test_hosts_that_are_used_no_more_are_forgotten() -> None:
    hosts = KnownHosts()
    first = hosts.host("a", 1)
    assert hosts.host("a", 1) is first
    for port in range(2, HOSTS_MAX + 1):
        hosts.host("a", port)
    assert hosts.host("a", 1) is first
    for port in range(2, HOSTS_MAX + 2):
        hosts.host("a", port)
    assert hosts.host("a", 1) is not first


def test_addresses_outlive_a_resolver_that_fails_but_not_one_that_knows_of_none() -> None:
    host = KnownHost("a", 1)
    again = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    with pytest.raises(OSError, match="Temporary failure"):
        host.take(again)
    host.take([v4(1)])
    host.take(again)
    host.take(OSError("no thread"))
    assert host.addresses.to_try() == [v4(1)]
    with pytest.raises(OSError, match="not known"):
        host.take(socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
    assert not host.addresses.is_known()
    with pytest.raises(OSError, match="a has no address"):
        host.take([])
