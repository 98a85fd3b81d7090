"""Says how two responses, or what two controllers logged for a call, differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.differential.call import ANSWERED, Call, Response
from tests.differential.metadata_log import LoggedRecord
from tests.differential.names import A_TEXT, RANDOM, Normaliser
from tests.differential.placement import without_choices

THROWS = "Kafka throws"
RESPONSE = "response"
OF_DAMAGED = "response to damaged bytes"
FENCED_AGAIN = "a fenced broker is fenced again"
THROWN = -1
"""UNKNOWN_SERVER_ERROR: a handler of Kafka met what it does not expect."""


@dataclass(frozen=True)
class Difference:
    """One thing that differs: where, and what each side has there."""

    api: str
    place: str
    java: Any
    kraftctl: Any
    avoided: frozenset[str] = frozenset()
    """How the call is known to differ (calls/avoided.py): it is mostly not made."""

    @property
    def in_the_log(self) -> bool:
        return self.place.startswith("log")

    @property
    def is_an_error(self) -> bool:
        """Whether one side refuses what the other does, or refuses otherwise."""
        return self.place.endswith("ErrorCode") or self.place in (RESPONSE, OF_DAMAGED, THROWS)

    @property
    def signature(self) -> str:
        return f"{self.api} {self.place}: {shortened(self.java)} | {shortened(self.kraftctl)}"


def shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]} ..."


def compared_responses(
    call: Call, responses: tuple[Response, Response], normalisers: tuple[Normaliser, Normaliser]
) -> list[Difference]:
    java, ours = responses
    if java.status != ours.status or java.status != ANSWERED:
        if java.status == ours.status:
            return []
        place = RESPONSE if call.damage is None else OF_DAMAGED
        return [Difference(call.api, place, _brief(java), _brief(ours))]
    if THROWN in errors_of(java.body) and THROWN not in errors_of(ours.body):
        return [Difference(call.api, THROWS, _brief(java), _brief(ours))]
    if call.damage is not None and (java.body or {}).keys() != (ours.body or {}).keys():
        # An envelope in which one of them finds no request.
        return [Difference(call.api, OF_DAMAGED, _brief(java), _brief(ours))]
    found: list[Difference] = []
    _walk(call.api, "", normalisers[0].normal("", java.body), normalisers[1].normal("", ours.body), found)
    return found


def _brief(response: Response) -> Any:
    return response.status if response.body is None else (response.status, errors_of(response.body))


def errors_of(body: Any) -> list[int]:
    """All error codes of a response."""
    if isinstance(body, dict):
        own = [body["ErrorCode"]] if "ErrorCode" in body else []
        return [*own, *[code for each in body.values() for code in errors_of(each)]]
    if isinstance(body, list):
        return [code for each in body for code in errors_of(each)]
    return []


def _walk(api: str, place: str, java: Any, ours: Any, found: list[Difference]) -> None:
    if (java == ours and type(java) is type(ours)) or _are_texts(java, ours):
        return
    if (api, place.rpartition(".")[2]) in RANDOM and java and ours:
        return
    if isinstance(java, dict) and isinstance(ours, dict):
        for name in [*java, *[each for each in ours if each not in java]]:
            _walk(api, f"{place}.{name}" if place else name, java.get(name), ours.get(name), found)
    elif isinstance(java, list) and isinstance(ours, list) and len(java) != len(ours):
        named, ours_named = _by_name(java), _by_name(ours)
        if not named or not ours_named:
            found.append(Difference(api, place, java, ours))
            return
        for name in [*named, *[each for each in ours_named if each not in named]]:
            _walk(api, f"{place}[{name}]", named.get(name), ours_named.get(name), found)
    elif isinstance(java, list) and isinstance(ours, list):
        for one, other in zip(java, ours, strict=True):
            _walk(api, f"{place}[]", one, other, found)
    else:
        found.append(Difference(api, place, java, ours))


def _by_name(values: list[Any]) -> dict[Any, Any]:
    """Returns structures by what each is about; empty if that is not clear."""
    for key in ("Name", "ApiKey"):
        found = {each.get(key): each for each in values if isinstance(each, dict)}
        if len(found) == len(values) and None not in found:
            return found
    return {}


def _are_texts(java: Any, ours: Any) -> bool:
    return (
        isinstance(java, str)
        and isinstance(ours, str)
        and java.startswith(A_TEXT)
        and ours.startswith(A_TEXT)
    )


def compared_records(
    api: str,
    records: tuple[list[LoggedRecord], list[LoggedRecord]],
    normalisers: tuple[Normaliser, Normaliser],
    *,
    by_chance: bool = False,
) -> list[Difference]:
    """Compares in order, but for records of one type beside each other: Kafka writes these by random ids."""
    java, ours = (
        _grouped([_comparable(normaliser.record(each), by_chance) for each in logged])
        for normaliser, logged in zip(normalisers, records, strict=True)
    )
    if java == ours:
        return []
    if [each[:2] for each in java] != [each[:2] for each in ours]:
        if sorted(java, key=repr) == sorted(ours, key=repr):
            return [Difference(api, "log order", [each[0] for each in java], [each[0] for each in ours])]
        return [Difference(api, "log", _without(java, ours), _without(ours, java))]
    found: list[Difference] = []
    for one, other in zip(java, ours, strict=True):
        _walk(api, f"log {one[0]} v{one[1]}", one[2], other[2], found)
    return found


def compared_fencing(api: str, again: list[int], ours_again: list[int]) -> list[Difference]:
    """Compares which fenced brokers are fenced again, apart from those that both fence again.

    A call may do that on both sides while the session of another broker ends: that is one in Kafka alone.
    """
    java, ours = Counter(again), Counter(ours_again)
    alone, ours_alone = (java - ours).total(), (ours - java).total()
    return [Difference(api, FENCED_AGAIN, alone, ours_alone)] if alone or ours_alone else []


def _comparable(record: tuple[str, int, Any], by_chance: bool) -> tuple[str, int, Any]:
    return without_choices(record) if by_chance else record


def _without(these: list[Any], others: list[Any]) -> list[Any]:
    left = Counter(repr(each) for each in others)
    found = []
    for each in these:
        left[repr(each)] -= 1
        if left[repr(each)] < 0:
            found.append(each)
    return found


def _grouped(records: list[tuple[str, int, Any]]) -> list[tuple[str, int, Any]]:
    groups: list[list[tuple[str, int, Any]]] = []
    for record in records:
        if groups and groups[-1][0][0] == record[0]:
            groups[-1].append(record)
        else:
            groups.append([record])
    return [record for group in groups for record in sorted(group, key=repr)]
