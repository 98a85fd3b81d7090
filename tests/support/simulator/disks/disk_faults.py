"""Damage to what was forced long ago: flipped bits, tails that are gone or grow, files in the wrong place."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from kraftctl_protocol.log_file_names import QUORUM_STATE
from tests.support.file_states import DirectoryState, FileContent, FileState
from tests.support.simulator.disks.quorum_state_damage import changes_a_promise

KINDS = (".log", ".checkpoint", "quorum-state", "metadata-recovery-point", "leader-epoch-checkpoint")
"""How the names of files end that may be damaged."""

TAIL_BYTES_MAX = 300


class Damage(NamedTuple):
    name: str
    """Of the file, relative to the root of the disk."""

    position: int
    """The first byte that is not what it was."""

    kind: str

    def __str__(self) -> str:
        return f"{self.kind} of {self.name} at byte {self.position}"


def files_in(directory: DirectoryState, prefix: str = "") -> dict[str, FileState]:
    """All files below `directory` by their relative names."""
    found: dict[str, FileState] = {}
    for name, state in directory.names.items():
        if isinstance(state, FileState):
            found[prefix + name] = state
        else:
            found |= files_in(state, f"{prefix}{name}/")
    return found


def flip_bit(tree: DirectoryState, rng: random.Random, kinds: Sequence[str]) -> Damage | None:
    """One bit of a forced byte. None when there is no such file."""
    found = _some_file(tree, rng, kinds)
    if found is None:
        return None
    name, state, size_bytes = found
    before = state.forced_content().content()
    while True:
        position, bit = rng.randrange(size_bytes), 1 << rng.randrange(8)
        after = bytearray(before)
        after[position] ^= bit
        if not name.endswith(QUORUM_STATE) or not changes_a_promise(before, bytes(after)):
            break

    def flip(content: FileContent) -> None:
        content.data[position] ^= bit

    state.change_below(flip)
    return Damage(name, position, "a flipped bit")


def cut_tail(tree: DirectoryState, rng: random.Random, kinds: Sequence[str]) -> Damage | None:
    """Forced bytes at the end of a file are gone. None when there is no such file."""
    found = _some_file(tree, rng, kinds)
    if found is None:
        return None
    name, state, size_bytes = found
    kept_bytes = max(0, size_bytes - rng.randint(1, TAIL_BYTES_MAX))
    state.change_below(lambda content: content.truncate(kept_bytes))
    return Damage(name, kept_bytes, "a lost tail")


def append_garbage(tree: DirectoryState, rng: random.Random, kinds: Sequence[str]) -> Damage | None:
    """Random bytes follow what was forced. None when there is no such file."""
    found = _some_file(tree, rng, kinds)
    if found is None:
        return None
    name, state, size_bytes = found
    garbage = rng.randbytes(rng.randint(1, TAIL_BYTES_MAX))
    state.change_below(lambda content: content.write(size_bytes, garbage))
    return Damage(name, size_bytes, "garbage at the end")


def swap(tree: DirectoryState, rng: random.Random, kinds: Sequence[str]) -> Damage | None:
    """Two files of one kind have each other's content. None when there are none that differ."""
    files = files_in(tree)
    pairs = [
        (one, other)
        for kind in kinds
        for one, other in combinations(sorted(name for name in files if name.endswith(kind)), 2)
        if files[one].data != files[other].data
    ]
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    first, second = files[one].copy(), files[other].copy()
    files[one].become(second)
    files[other].become(first)
    return Damage(one, 0, f"the content of {other} instead")


def _some_file(
    tree: DirectoryState, rng: random.Random, kinds: Sequence[str]
) -> tuple[str, FileState, int] | None:
    """A file that holds forced bytes, and how many."""
    files = files_in(tree)
    sizes = {
        name: len(files[name].forced_content().data) for name in sorted(files) if name.endswith(tuple(kinds))
    }
    names = [name for name, size_bytes in sizes.items() if size_bytes > 0]
    if not names:
        return None
    name = rng.choice(names)
    return name, files[name], sizes[name]
