"""RFC 8305: the addresses of one name, in the order in which the next attempt tries them. It does no IO.

| place | which addresses | among each other |
|---|---|---|
| 1 | the one that served a request last | |
| 2 | those that have not failed | as the resolver sorts them, families in turn |
| 3 | those that failed within ATTEMPT_DELAY_SECONDS | longest ago first |
| 4 | those that gave no response, or failed later | longest ago first |

So an address that is silent is not the first one twice in a row, and none is left out for good. Addresses at
which this process itself listens come in only when the name has no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

ATTEMPT_DELAY_SECONDS: Final = 0.25
"""How long an address may be silent before the next one is tried beside it: RFC 8305, section 8."""

ADDRESSES_MAX: Final = 64
"""The number of addresses that one attempt may try. Those that have failed give way to others of the name."""

REMEMBERED_MAX: Final = 1_024
"""Addresses of one name of which failures are remembered; others are ignored. DNS over UDP has 28 of IPv4."""

NOT_CONNECTED: Final = "no connection was accepted"
NOT_ENCRYPTED: Final = "a connection was accepted, but SSL did not begin"
NOT_ANSWERED: Final = "a connection was accepted, but ApiVersions was not answered"
NOT_AUTHENTICATED: Final = "ApiVersions was answered, but SASL was not"
"""The state of an attempt whose time ended during authentication."""

SASL_SECONDS_MAX: Final = 1.0
"""How long SASL may take at an address when there are others that were not silent."""

NAMED_MAX: Final = 8
"""An error names at most this many addresses."""


SERVED: Final = 1
UNTRIED: Final = 2
PROMPT: Final = 3
SLOW: Final = 4
"""Addresses of these two rows of the table above are slow."""


class Address(NamedTuple):
    """An address as getaddrinfo has it: family, and host, port and what else the family needs."""

    family: int
    place: tuple[str | int | bytes, ...]

    def __str__(self) -> str:
        return str(self.place[0])

    def numbers(self) -> str:
        """Returns the host as connections take it: one of a link with the link, as in `fe80::1%2`."""
        scope = self.place[3] if len(self.place) > 3 else 0
        return f"{self}%{scope!s}" if scope else str(self)


class Failure(NamedTuple):
    """The reason why an address did not respond, after how many seconds, and when."""

    reason: str
    took_seconds: float
    at_seconds: float

    def is_slow(self) -> bool:
        """Returns whether others are better tried before this one."""
        return self.took_seconds >= ATTEMPT_DELAY_SECONDS


class HostAddresses:
    """The state of one name's addresses. Times are seconds of any clock that does not go back."""

    def __init__(self) -> None:
        self._found: list[Address] = []
        """The addresses as the resolver sorts them, families in turn."""
        self._failures: dict[Address, Failure] = {}
        self._own: set[Address] = set()
        self._served: Address | None = None
        self._is_whole = True

    def resolved(self, found: Iterable[Address]) -> None:
        """Takes the present addresses of the name. The state of others is forgotten."""
        distinct = _families_in_turn(list(dict.fromkeys(found)))
        all_found = distinct[:REMEMBERED_MAX]
        current = set(all_found)
        self._failures = {each: why for each, why in self._failures.items() if each in current}
        self._own &= current
        if self._served not in current:
            self._served = None
        # In this order, an excess of addresses consists of those that failed last.
        kept = set(sorted(all_found, key=self._rank)[:ADDRESSES_MAX])
        self._found = [each for each in all_found if each in kept]
        self._is_whole = len(kept) == len(distinct)

    def is_known(self) -> bool:
        """Returns whether the name had addresses when it was resolved last."""
        return bool(self._found)

    def has_several(self) -> bool:
        """Whether the name has more than one address."""
        return len(self._found) > 1

    def is_whole(self) -> bool:
        """Returns whether `to_try` has every address of the name."""
        return self._is_whole and len(self._own) in (0, len(self._found))

    def has_alternative(self, address: Address) -> bool:
        """Returns whether the next attempt might better begin with another one."""
        return any(each != address and self._rank(each)[0] < SLOW for each in self.to_try())

    def to_try(self) -> list[Address]:
        """Returns all that the next attempt may try, the best first."""
        others = [each for each in self._found if each not in self._own]
        return sorted(others or self._found, key=self._rank)

    def served(self, address: Address) -> None:
        """Notes that the address has served a request: if a connection ends later, that is not counted
        against it.
        """
        self._served = address
        self._failures.pop(address, None)

    def failed(self, address: Address, failure: Failure) -> None:
        """Notes that the address did not respond, unless it has left the name in the meantime."""
        if address not in self._found:
            return
        if address == self._served:
            self._served = None
        self._failures[address] = failure

    def is_own(self, address: Address) -> None:
        """Notes that this process itself listens there."""
        self._own.add(address)

    def reason_of(self, address: Address) -> str:
        """Returns the reason why the address failed; empty if it has not."""
        failure = self._failures.get(address)
        return "" if failure is None else failure.reason

    def reasons(self) -> str:
        """Returns each address that has failed and why; without the address when the name has only one."""
        tried = [each for each in self._found if each in self._failures]
        if len(self._found) == 1:
            return "".join(self._failures[each].reason for each in tried)
        named = [f"{each}: {self._failures[each].reason}" for each in tried[:NAMED_MAX]]
        if len(tried) > NAMED_MAX:
            named.append(f"and {len(tried) - NAMED_MAX} more")
        return "; ".join(named)

    def _rank(self, address: Address) -> tuple[int, float]:
        if address == self._served:
            return SERVED, 0.0
        failure = self._failures.get(address)
        if failure is None:
            return UNTRIED, 0.0
        return (SLOW if failure.is_slow() else PROMPT), failure.at_seconds


def _families_in_turn(found: Sequence[Address]) -> list[Address]:
    """The first of each family, then the second of each, the family of the very first leading (section 4)."""
    place: dict[int, int] = {}
    turns: list[tuple[int, Address]] = []
    for each in found:
        turn = place.get(each.family, 0)
        place[each.family] = turn + 1
        turns.append((turn, each))
    # Stable: within a turn the family whose first address is sorted first stays first.
    families = {family: index for index, family in enumerate(place)}
    return [each for _, each in sorted(turns, key=lambda entry: (entry[0], families[entry[1].family]))]
