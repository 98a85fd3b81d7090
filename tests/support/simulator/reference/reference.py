"""The reference: every committed record, replayed by Kafka's rules, as of any offset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kraftctl_protocol.message import Message
from tests.support.simulator.reference.kafka_rules import NO_EFFECT, RULES
from tests.support.simulator.reference.refused_record import refuse
from tests.support.simulator.reference.rows import Rows, State


class Reference:
    """`end_offset` is exclusive. It imports nothing of what it is compared with, but the codec of records."""

    def __init__(self, *, as_controller: bool = True) -> None:
        self.rows = Rows()
        self.end_offset = 0
        self._as_controller = as_controller

    @property
    def now(self) -> State:
        """The newest state. Do not change it, or keep it."""
        return self.rows.now

    def replay(self, record: Message, offset: int) -> None:
        """RefusedRecordError for what Kafka would not replay."""
        rule = RULES.get(type(record))
        self.rows.offset = offset
        if rule is not None:
            rule(self.rows, record, self._as_controller)
        elif record.NAME not in NO_EFFECT:
            refuse(record, "no rule for this type")
        self.end_offset = offset + 1

    @contextmanager
    def extended(self, records: Iterable[tuple[int, Message]]) -> Iterator[None]:
        """With these records, by their offsets, for a while: those of a leader that are not committed."""
        end_offset = self.end_offset
        try:
            for offset, record in records:
                self.replay(record, offset)
            yield
        finally:
            self.rows.forget_from(end_offset)
            self.end_offset = end_offset


def state_of(records: Iterable[Message], *, as_controller: bool = True) -> State:
    """Of records in a row, as those of a snapshot."""
    reference = Reference(as_controller=as_controller)
    for offset, record in enumerate(records):
        reference.replay(record, offset)
    return reference.now
