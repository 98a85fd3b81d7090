"""Damage to the log of a machine that is aimed at what recovery has to notice: see `rot`."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import PurePath

from kraftctl_protocol.batch_framing import InvalidBatchError, scan_batches
from kraftctl_protocol.log_file_names import LOG_SUFFIX, parse_segment_file_name
from tests.support.file_states import FileContent, FileState
from tests.support.simulator.disks.disk import SimulatedDisk
from tests.support.simulator.disks.disk_faults import Damage, files_in


def lose_last_batch(disk: SimulatedDisk, rng: random.Random) -> Damage | None:
    """The last forced batch of the log, or a part of it. None when there is none."""
    found = _last_segment(disk)
    if found is None or not found[2]:
        return None
    name, state, positions = found
    start = positions[-1]
    size_bytes = len(state.forced_content().data)
    kept_bytes = rng.choice((start, rng.randrange(start, size_bytes)))
    state.change_below(lambda content: content.truncate(kept_bytes))
    return Damage(name, kept_bytes, "a lost end")


def damage_the_middle(disk: SimulatedDisk, rng: random.Random) -> Damage | None:
    """A batch of the last segment, but not its last one. None when there is none."""
    found = _last_segment(disk)
    if found is None or len(found[2]) < 2:
        return None
    name, state, positions = found
    at = rng.randrange(len(positions) - 1)
    start, end = positions[at], positions[at + 1]
    if rng.random() < 0.5:
        start = rng.randrange(start, end)
        end = start + 1
    zeros = bytes(end - start)
    flipped = bytes([state.forced_content().data[start] ^ 1 << rng.randrange(8)])
    damaged = flipped if end == start + 1 else zeros

    def change(content: FileContent) -> None:
        content.data[start:end] = damaged

    state.change_below(change)
    return Damage(name, start, "zeros" if damaged is zeros else "a flipped bit")


def _last_segment(disk: SimulatedDisk) -> tuple[str, FileState, list[int]] | None:
    """Its name and content, and where its forced batches begin."""
    files = files_in(disk.tree)
    names = sorted(name for name in files if name.endswith(LOG_SUFFIX))
    if not names:
        return None
    state = files[names[-1]]
    base_offset = parse_segment_file_name(PurePath(names[-1]).name)
    assert base_offset is not None
    positions: list[int] = []
    with suppress(InvalidBatchError):  # it is damaged already
        content = bytes(state.forced_content().data)
        positions.extend(place.position for place in scan_batches(content, base_offset, 0))
    return names[-1], state, positions
