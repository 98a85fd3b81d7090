"""The images of controllers, and snapshots, compared with the reference at their offsets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.simulator.checks.image_rows import (
    Derived,
    derived_of,
    derived_of_image,
    rows_of_image,
)
from tests.support.simulator.reference.reference import Reference, state_of
from tests.support.simulator.reference.rows import Key, State
from tests.support.simulator.reference.snapshot_rules import kept

RECORDS_MAX = 1 << 40

OF_OFFSETS = ("registration offset", "features offset")
"""Tables of offsets of records: those of a snapshot have the last offset that it contains."""


def snapshot_state(data: bytes) -> State:
    """What the records of a checkpoint file say, without those of the raft layer."""
    return kept(
        state_of(
            decode_metadata_record(record.value or b"").record
            for batch in read_batches(data)
            if not batch.header.is_control
            for record in batch.records
        )
    )


def written_state(image: MetadataImage, end_offset: int) -> State:
    """What a snapshot of the image without the records from `end_offset` on would say."""
    writer = ImageWriter(image, end_offset)
    try:
        values = writer.next_values(RECORDS_MAX)
    finally:
        writer.close()
    return kept(state_of(decode_metadata_record(value).record for value in values))


def difference(found: State, expected: State, end_offset: int = 0) -> str:
    """Of two states; empty if there is none. Offsets may be those of a later snapshot, below `end_offset`."""
    if found == expected:
        return ""
    for key in {**expected, **found}:
        one, other = found.get(key), expected.get(key)
        if one != other and not _is_later(key, one, other, end_offset):
            return f"{_named(key)} is {one}, not {other}"
    return ""


def _is_later(key: Key, found: Any, expected: Any, end_offset: int) -> bool:
    is_offset = key[0] in OF_OFFSETS and found is not None and expected is not None
    return is_offset and expected < found < end_offset


def _named(key: Key) -> str:
    return " ".join(part.hex() if isinstance(part, bytes) else str(part) for part in key)


class ReferenceImage:
    """The reference, and what was asked of it at some offset, remembered until `forget`."""

    def __init__(self, *, as_controller: bool = True) -> None:
        self.reference = Reference(as_controller=as_controller)
        self._states: dict[int, State] = {}
        self._derived: dict[int, Derived] = {}

    def state_at(self, end_offset: int) -> State:
        state = self._states.get(end_offset)
        if state is None:
            state = self._states[end_offset] = self.reference.rows.at(end_offset)
        return state

    def forget(self) -> None:
        self._states.clear()
        self._derived.clear()

    def why_image_differs(self, image: MetadataImage, end_offset: int) -> str:
        """Compared with everything before `end_offset`, which is committed."""
        expected = self.state_at(end_offset)
        if end_offset not in self._derived:
            self._derived[end_offset] = derived_of(expected)
        return _why_different(image, expected, self._derived[end_offset], end_offset)

    def why_leader_differs(self, image: MetadataImage, records: Iterable[tuple[int, Message]]) -> str:
        """The image of a leader has these records, too, which are not committed yet."""
        with self.reference.extended(records):
            state = self.reference.now
            return _why_different(image, state, derived_of(state), self.reference.end_offset)

    def why_view_differs(self, image: MetadataImage, end_offset: int) -> str:
        """What its journal says of before `end_offset`."""
        return difference(written_state(image, end_offset), kept(self.state_at(end_offset)))

    def why_snapshot_differs(self, data: bytes, end_offset: int) -> str:
        return difference(snapshot_state(data), kept(self.state_at(end_offset)))


def _why_different(image: MetadataImage, expected: State, derived: Derived, end_offset: int) -> str:
    found = difference(rows_of_image(image), expected, end_offset)
    if found:
        return found
    own = derived_of_image(image)
    wrong = [name for name, value in derived.items() if own[name] != value]
    return f"{wrong[0]} is {own[wrong[0]]}, not {derived[wrong[0]]}" if wrong else ""
