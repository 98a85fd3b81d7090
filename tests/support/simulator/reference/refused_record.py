"""A record that Kafka would not replay: a broker or a controller that reads it ends."""

from __future__ import annotations

from typing import NoReturn

from kraftctl_protocol.message import Message


class RefusedRecordError(Exception):
    """Names the record and what is wrong with it."""


def refuse(record: Message, why: str) -> NoReturn:
    raise RefusedRecordError(f"{why}: {record!r}")
