"""Makes calls odd: fields with values at the edges, damaged bytes, other versions and other principals."""

from __future__ import annotations

import copy
from typing import Any

from tests.differential.call import Call, Damage, Forwarded
from tests.differential.calls.chooser import ODD_NUMBERS, ODD_TEXTS, Chooser
from tests.differential.codec import INTEGERS, Body
from tests.differential.schemas import ZERO_UUID, Field, Schema

NAMES = ("alice", "alice", "bob", "carol", "ANONYMOUS")
NEVER_ODD = {"LeaderEpoch", "ReplicaEpoch", "CurrentLeaderEpoch", "VoterId", "VoterDirectoryId", "LeaderId"}
"""In requests of raft, a later epoch would be joined, and another voter wait for its vote."""

NO_EPOCHS = [each for each in ODD_NUMBERS if each < 1 or each >= 10**6]
"""The others are offsets, and a broker may have registered there on one side."""

ODD_TIMEOUTS_MS = (-1, -(2**31), 2**31 - 1)
"""With a short one it is chance whether a call is in time."""

OF_RAFT = ("Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "AddRaftVoter", "RemoveRaftVoter", "UpdateRaftVoter")
HOSTS = (b"\x0a\0\0\5", b"\x7f\0\0\1", b"\0" * 15 + b"\1")


def with_an_odd_field(pick: Chooser, schema: Schema, call: Call) -> Call:
    """Changes one field of the call, at any depth, to an odd value of its type."""
    body = copy.deepcopy(call.body)
    places: list[tuple[Body, Field]] = []
    _places(schema.fields, call.version, body, places)
    if places:
        owner, field = pick.one(places)
        odd = _odd(pick, field, call.version, owner.get(field.name, field.default))
        owner[field.name] = pick.one(ODD_TIMEOUTS_MS) if field.name.lower() == "timeoutms" else odd
    return Call(call.api, call.version, body, call.forwarded)


def _places(fields: list[Field], version: int, body: Any, found: list[tuple[Body, Field]]) -> None:
    if not isinstance(body, dict):
        return
    for field in fields:
        if version not in field.versions or field.name in NEVER_ODD:
            continue
        found.append((body, field))
        value = body.get(field.name)
        if field.struct and isinstance(value, list):
            for each in value:
                _places(field.struct, version, each, found)
        elif field.struct:
            _places(field.struct, version, value, found)


def _odd(pick: Chooser, field: Field, version: int, value: Any) -> Any:
    kind = field.type
    if pick.often(0.1) and (version in field.nullable):
        return None
    if kind in INTEGERS:
        return pick.one(NO_EPOCHS if field.name.endswith("BrokerEpoch") else ODD_NUMBERS)
    if kind == "bool":
        return not value
    if kind == "float64":
        return pick.one((0.0, -1.0, 0.5, 1e300, float("inf"), float("-inf")))
    if kind == "string":
        return pick.one(ODD_TEXTS)
    if kind in ("bytes", "records"):
        return pick.one((b"", b"\0", b"x" * 1000))
    if kind == "uuid":
        return pick.one((ZERO_UUID, "AAAAAAAAAAAAAAAAAAAAAQ", pick.uuid()))
    if kind.startswith("[]"):
        return _odd_list(pick, field, version, value or [])
    return value


def _odd_list(pick: Chooser, field: Field, version: int, value: list[Any]) -> list[Any]:
    match pick.one(("empty", "twice", "longer", "reversed")):
        case "empty":
            return []
        case "twice" if value:
            return [*value, pick.one(value)]
        case "longer" if not field.struct:
            return [*value, _odd(pick, field.element, version, None)]
        case _:
            return value[::-1]


def damaged(pick: Chooser, call: Call) -> Call:
    damage = pick.one(
        (
            Damage(cut_bytes=pick.chance.randint(1, 8)),
            Damage(appended=b"\0" * pick.chance.randint(1, 4)),
            Damage(position=pick.chance.randint(0, 200), byte=pick.one((0, 1, 2, 127))),
        )
    )
    if damage.position >= 0 and "Ref(" in repr(call.body):
        # Which id a damaged one is depends on the side.
        damage = Damage(cut_bytes=1)
    if call.api in OF_RAFT:
        damage = Damage(cut_bytes=damage.cut_bytes or 1)
    return Call(call.api, call.version, call.body, call.forwarded, damage)


def forwarded(pick: Chooser, call: Call) -> Call:
    return Call(
        call.api,
        call.version,
        call.body,
        Forwarded(
            pick.one(NAMES), "User" if pick.often(0.97) else "Group", pick.often(0.05), pick.one(HOSTS)
        ),
        call.damage,
    )
