"""Long reads of the end of the log are joined once, for all replicas that read the same."""

from __future__ import annotations

from kraftctl.storage.recent_batches import (
    JOINED_BYTES_MAX,
    JOINED_BYTES_MIN,
    RECENT_BYTES_MAX,
    RecentBatches,
)
from kraftctl_protocol.batch_framing import places_of
from tests.storage.batches import batch

OFFSET_MAX = 2**63 - 1
VALUE = bytes(10_000)
READ_BYTES = 200_000


def recent_batches(offsets: range, epoch: int = 1) -> RecentBatches:
    recent = RecentBatches()
    append(recent, offsets, epoch)
    return recent


def append(recent: RecentBatches, offsets: range, epoch: int) -> None:
    for offset in offsets:
        data = batch(offset, epoch, value=VALUE)
        recent.append(places_of(data, offset, epoch), data)


def test_replicas_that_read_the_same_share_its_bytes() -> None:
    recent = recent_batches(range(40))
    found = recent.read(3, READ_BYTES, OFFSET_MAX)
    assert found is not None
    assert JOINED_BYTES_MIN <= len(found) <= READ_BYTES
    assert recent.read(3, READ_BYTES, OFFSET_MAX) is found
    assert recent.read(4, READ_BYTES, OFFSET_MAX) != found


def test_another_end_is_another_read() -> None:
    recent = recent_batches(range(40))
    short = recent.read(3, READ_BYTES, 13)
    longer = recent.read(3, READ_BYTES, 14)
    assert short is not None
    assert longer is not None
    assert longer == short + batch(13, value=VALUE)


def test_what_was_truncated_is_not_read_again() -> None:
    recent = recent_batches(range(40))
    before = recent.read(3, READ_BYTES, OFFSET_MAX)
    assert recent.truncate_to(5) == 5
    append(recent, range(5, 40), epoch=2)
    after = recent.read(3, READ_BYTES, OFFSET_MAX)
    assert before is not None
    assert after is not None
    assert len(after) == len(before)
    assert after == b"".join(batch(offset, 1 if offset < 5 else 2, value=VALUE) for offset in range(3, 22))


def test_what_is_kept_is_limited() -> None:
    recent = recent_batches(range(JOINED_BYTES_MAX // len(VALUE) * 2))
    first = recent.read(0, READ_BYTES, OFFSET_MAX)
    for offset in range(1, JOINED_BYTES_MAX // READ_BYTES + 2):
        recent.read(offset, READ_BYTES, OFFSET_MAX)
    again = recent.read(0, READ_BYTES, OFFSET_MAX)
    assert again == first
    assert again is not first
    everything = recent.read(0, 2 * JOINED_BYTES_MAX, OFFSET_MAX)
    assert everything is not recent.read(0, 2 * JOINED_BYTES_MAX, OFFSET_MAX)


def test_what_was_truncated_does_not_wait_to_be_written() -> None:
    recent = recent_batches(range(4))
    recent.written(2)
    assert recent.truncate_to(1) == 1
    assert recent.unwritten_bytes == 0
    append(recent, range(1, 3), epoch=2)
    assert recent.unwritten_bytes == sum(len(data) for _, data in recent.unwritten())


def test_what_was_truncated_takes_no_room() -> None:
    recent = recent_batches(range(1))
    recent.written(1)
    for _ in range(RECENT_BYTES_MAX // len(VALUE) + 1):
        append(recent, range(1, 2), epoch=1)
        recent.written(1)
        recent.truncate_to(1)
    assert recent.read(0, READ_BYTES, OFFSET_MAX) is not None
