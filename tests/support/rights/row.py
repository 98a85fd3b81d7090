"""A row of the table of rights, and the cells in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import ZERO_UUID
from tests.support.rights.grants import Grants, denied

Refusal = tuple[tuple[str, int], ...]
"""Where in a response which errors are: `topics.error_code`, sorted. Empty: no error of a right."""

ALLOWED: Refusal = ()

SUPER = "super"
"""`User:CN=super` is one of super.users."""


@dataclass
class World:
    """What requests name, different in each cluster."""

    cluster_id: str
    doomed_id: bytes = ZERO_UUID
    """Of the topic `doomed`, which a request may delete."""
    token_hmac: bytes = b""
    """Of a token of `User:CN=owner` that `User:CN=renewer` may renew."""


@dataclass(frozen=True)
class Row:
    """A request, what it needs, and how it is refused without.

    One of `needs` is enough. `others` are further principals with their grants and answers. `known`:
    principals by name, without grants.
    """

    name: str
    request: Callable[[World], Message]
    needs: Grants = ()
    refused: Refusal = ALLOWED
    others: Mapping[str, tuple[Grants, Refusal]] = field(default_factory=dict)
    known: Mapping[str, Refusal] = field(default_factory=dict)
    granted: Refusal = ALLOWED
    """The response to those who have what is needed and nothing else."""
    token: Refusal | None = None
    """The response to a principal with the right that authenticated with a token, if it is another one."""
    anonymous: Refusal | None = None
    """The response to a direct request of the anonymous principal, if it is another one."""
    deletes: bool = False
    has_loggers: bool = False
    """Kafka describes its loggers, kraftctl others: only refusals are alike."""
    errors_only: bool = False
    """What the response has besides errors depends on the kind of controller."""

    def cells(self) -> Iterator[Cell]:
        """Those that may be refused first."""
        if self.refused:
            yield Cell(self, "without", (), self.refused)
            yield Cell(self, "denied", denied(self.needs), self.refused)
        else:
            yield Cell(self, "anybody", (), ALLOWED)
        yield Cell(self, "anonymous", None, self.refused)
        for who, (grants, refused) in self.others.items():
            yield Cell(self, who, grants, refused)
        for name, refused in self.known.items():
            yield Cell(self, name, (), refused, name=name)
        for index, need in enumerate(self.needs):
            yield Cell(self, f"with-{index}", (need,), self.granted)
        grants = self.needs[:1]
        yield Cell(self, "token", grants, self.granted if self.token is None else self.token, is_token=True)
        if SUPER not in self.known:
            yield Cell(self, SUPER, (), ALLOWED, name=SUPER)


@dataclass(frozen=True)
class Cell:
    """A row and a principal: one by name, one by its grants, or the anonymous one if they are None."""

    row: Row
    who: str
    grants: Grants | None
    expected: Refusal
    name: str = ""
    is_token: bool = False

    def expected_by(self, *, envelope: bool) -> Refusal:
        if self.grants is None and not envelope and self.row.anonymous is not None:
            return self.row.anonymous
        return self.expected

    @property
    def id(self) -> str:
        return f"{self.row.name}-{self.who}"

    def principal_name(self, numbers: dict[Grants, int]) -> str:
        """`CN=...`, the same for the same grants; empty for the anonymous one."""
        if self.grants is None:
            return ""
        if self.name:
            return f"CN={self.name}"
        return f"CN=p{numbers[self.grants]}"


def numbered(rows: list[Row]) -> dict[Grants, int]:
    """A number for each different set of grants."""
    grants = [cell.grants for row in rows for cell in row.cells() if cell.grants is not None]
    return {each: number for number, each in enumerate(dict.fromkeys(grants))}


RIGHTS = {
    Errors.TOPIC_AUTHORIZATION_FAILED,
    Errors.GROUP_AUTHORIZATION_FAILED,
    Errors.CLUSTER_AUTHORIZATION_FAILED,
    Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    Errors.DELEGATION_TOKEN_OWNER_MISMATCH,
    Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
}


def refusal_of(message: Message) -> Refusal:
    """The errors of rights in a response, at any depth."""
    return tuple(sorted(set(_errors(message, ""))))


def _errors(message: Message, path: str) -> Iterator[tuple[str, int]]:
    for each in message.FIELDS:
        value = getattr(message, each.name)
        if each.name.endswith("error_code") and value in RIGHTS:
            yield path + each.name, int(value)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Message):
                yield from _errors(item, f"{path}{each.name}.")


VOLATILE = {"topic_id", "broker_epoch", "hmac", "token_id", "host", "port"}
"""Of what only counts whether it is there."""

UNCOMPARED = {"error_message", "throttle_time_ms"}


def shape(message: Message, version: int) -> object:
    """What two controllers have to answer alike."""
    found: dict[str, object] = {}
    for each in message.FIELDS:
        if each.name in UNCOMPARED or not each.in_version(version):
            continue
        value = getattr(message, each.name)
        if isinstance(value, Message):
            found[each.name] = shape(value, version)
        elif isinstance(value, list) and each.struct is not None:
            found[each.name] = sorted([shape(item, version) for item in value], key=repr)
        elif each.name in VOLATILE or each.name.endswith("timestamp_ms"):
            found[each.name] = value if value in (0, -1, b"", "", ZERO_UUID) else "some"
        else:
            found[each.name] = value
    return found


def errors_of(message: Message) -> object:
    """All errors of a response."""
    return sorted(_all_errors(message, ""))


def _all_errors(message: Message, path: str) -> Iterator[tuple[str, int]]:
    for each in message.FIELDS:
        value = getattr(message, each.name)
        if each.name.endswith("error_code"):
            yield path + each.name, value
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Message):
                yield from _all_errors(item, f"{path}{each.name}.")
