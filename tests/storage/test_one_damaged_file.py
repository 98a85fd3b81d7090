"""Random histories of a replica; then one file is damaged: the start refuses, recovers, or has everything.

"Everything" is what storage ever confirmed: every flushed batch, byte by byte, and the last vote.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import NOT_VOTED, ElectionState
from kraftctl.storage.contradictions import Contradictions
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches
from tests.storage.batches import batch
from tests.support.effort import FIRST_SEED, scaled
from tests.support.partitions import kill, open_partition

SEGMENT_BYTES = 600
STEPS_MAX = 40
LIVES = scaled(120)


class Life:
    """The steps of a voter, in an order that raft allows; and what was reported as durable."""

    def __init__(self, log_dir: Path, rng: random.Random) -> None:
        self.log_dir = log_dir
        self.rng = rng
        self.batches: dict[int, bytes] = {}
        self.durable_end = 0
        self.election = ElectionState(epoch=0, data_version=1)
        self.copies: dict[Path, list[bytes]] = {}
        self.partition = self.open()

    def open(self) -> MetadataPartition:
        return open_partition(self.log_dir, segment_bytes=SEGMENT_BYTES)

    def live(self) -> None:
        """Ends stopped, or killed."""
        self._elect()
        steps: list[Callable[[], None]] = [
            *[self._append] * 5,
            *[self._flush] * 3,
            self._elect,
            self._vote,
            self._truncate,
            self._snapshot,
            self._snapshot,
            self._clean,
            self._start_over,
            self._restart,
            self._keep_copies,
            self._keep_copies,
        ]
        for _ in range(self.rng.randint(3, STEPS_MAX)):
            self.rng.choice(steps)()
        self._end()

    def _end(self) -> None:
        if self.rng.random() < 0.5:
            self.partition.close()
            self.durable_end = self.partition.log.end_offset
        else:
            kill(self.partition)

    def _restart(self) -> None:
        self._end()
        self.partition = self.open()
        assert self.partition.recovering_epoch is None
        self.durable_end = self.partition.log.end_offset

    def _append(self) -> None:
        for _ in range(self.rng.randint(1, 4)):
            offset = self.partition.log.end_offset
            value = self.rng.randbytes(self.rng.randint(0, 100))
            data = batch(offset, self.election.epoch, self.rng.randint(1, 3), value)
            self.partition.log.append(data)
            self.batches[offset] = data

    def _flush(self) -> None:
        self.durable_end = self.partition.flush()

    def _elect(self) -> None:
        epoch = self.election.epoch + self.rng.randint(1, 2)
        self.election = ElectionState(
            epoch=epoch, voted_id=self.rng.choice([NOT_VOTED, 1, 2]), data_version=1
        )
        self.partition.write_quorum_state(self.election)

    def _vote(self) -> None:
        if self.election.voted_id == NOT_VOTED:
            self.election = ElectionState(epoch=self.election.epoch, voted_id=3, data_version=1)
            self.partition.write_quorum_state(self.election)

    def _truncate(self) -> None:
        """Always for a leader of a later epoch, and never below what is committed."""
        log = self.partition.log
        newest = self.partition.snapshots.latest_id()
        low = max(log.start_offset, 0 if newest is None else newest.offset)
        if low < log.end_offset:
            self._elect()
            offset = self.rng.randint(low, log.end_offset - 1)
            self.partition.truncate_log(offset)
            self.batches = {at: data for at, data in self.batches.items() if at < log.end_offset}
            self.durable_end = min(self.durable_end, log.end_offset)

    def _snapshot(self) -> None:
        newest = self.partition.snapshots.latest_id()
        low = 0 if newest is None else newest.offset
        ends = [at for at in self.batches if low < at <= self.durable_end]
        if ends:
            offset = self.rng.choice(ends)
            snapshot_id = OffsetAndEpoch(offset, self.partition.log.epoch_at(offset - 1))
            self.partition.write_snapshot(snapshot_id, _content(snapshot_id.epoch))

    def _clean(self) -> None:
        self.partition.clean(0, retention_bytes=1, retention_ms=-1)

    def _start_over(self) -> None:
        self._elect()
        offset = self.partition.log.end_offset + self.rng.randint(1, 20)
        snapshot_id = OffsetAndEpoch(offset, self.election.epoch)
        self.partition.write_snapshot(snapshot_id, _content(snapshot_id.epoch))
        self.partition.start_over_at(snapshot_id)
        self.batches = {}
        self.durable_end = offset

    def _keep_copies(self) -> None:
        for path in _files(self.log_dir):
            self.copies.setdefault(path, []).append(path.read_bytes())


def _content(epoch: int) -> list[bytes]:
    content = SnapshotBatches(epoch, 0)
    return [content.header(0), content.footer()]


def _files(log_dir: Path) -> Iterator[Path]:
    """Without indexes: they are large, and made anew at each start."""
    return (path for path in sorted(log_dir.rglob("*")) if path.is_file() and not path.name.endswith("index"))


def _damage(life: Life) -> str:
    """One file, in one of four ways; says which."""
    rng = life.rng
    path = rng.choice(list(_files(life.log_dir)))
    content = bytearray(path.read_bytes())
    older = [copy for copy in life.copies.get(path, []) if copy != content]
    kind = rng.choice(["flip", "cut", "delete", "older"])
    if kind == "older" and older:
        _replace(path, rng.choice(older))
        return f"{path.name} is an older copy"
    if kind == "flip" and content:
        position = rng.randrange(len(content))
        content[position] ^= 1 << rng.randrange(8)
        _replace(path, content)
        return f"a bit of {path.name} is flipped at byte {position}"
    if kind == "cut" and content:
        size_bytes = rng.randrange(len(content))
        _replace(path, content[:size_bytes])
        return f"{path.name} is cut to {size_bytes} bytes"
    path.unlink()
    return f"{path.name} is deleted"


def _replace(path: Path, content: bytes | bytearray) -> None:
    path.unlink()  # snapshots are read-only
    path.write_bytes(content)


def _outcome(life: Life) -> str:
    """Raises AssertionError when something is missing that was confirmed."""
    try:
        partition = life.open()
    except StorageError as error:
        return "refused" if "Next step" in str(error) else f"refused without a next step: {error}"
    try:
        if partition.recovering_epoch is not None:
            assert partition.recovering_epoch >= max(life.election.epoch, partition.log.last_epoch)
            return "recovers"
        newest = partition.snapshots.latest_id()
        if newest is not None:
            list(partition.snapshots.reader(newest).batches())
        _check(partition, life, 0 if newest is None else newest.offset)
    except StorageError:
        return "refused when it is read"
    finally:
        kill(partition)
    return "has everything"


def _check(partition: MetadataPartition, life: Life, snapshot_offset: int) -> None:
    state = partition.read_quorum_state()
    assert state is not None
    assert state.epoch >= life.election.epoch
    if state.epoch == life.election.epoch:
        assert life.election.voted_id in (NOT_VOTED, state.voted_id)
    log = partition.log
    assert max(log.end_offset, snapshot_offset) >= life.durable_end
    assert log.start_offset <= snapshot_offset
    first = 0 if log.start_offset == 0 else snapshot_offset
    found: dict[int, bytes] = {}
    offset = log.start_offset
    while offset < log.end_offset:
        found[offset] = log.read(offset, 1)
        offset = read_batches(found[offset])[-1].header.last_offset + 1
    for at, data in life.batches.items():
        if first <= at < life.durable_end or (at >= life.durable_end and at in found):
            assert found[at] == data


def _run(tmp_path: Path, lives: int) -> dict[str, int]:
    """How often each outcome came."""
    outcomes: dict[str, int] = {}
    for number in range(lives):
        seed = FIRST_SEED * 100_000 + number
        log_dir = tmp_path / str(number)
        life = Life(log_dir, random.Random(seed))
        life.live()
        damage = _damage(life)
        try:
            outcome = _outcome(life)
        except Exception as error:
            error.add_note(f"seed {seed}: {damage}")
            raise
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        shutil.rmtree(log_dir)
    return outcomes


@pytest.mark.prevents("contradicting-files")
def test_one_damaged_file_loses_nothing_silently(tmp_path: Path) -> None:
    outcomes = _run(tmp_path, LIVES)
    assert set(outcomes) - {"refused when it is read"} == {"refused", "recovers", "has everything"}


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        pytest.param("_check_end", lambda self, log: None, id="end"),
        pytest.param("_check_votes", lambda self, election: None, id="votes"),
        pytest.param("_has_taken_part", lambda self, log: False, id="quorum-state-is-gone"),
    ],
)
def test_a_missing_check_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, broken: object
) -> None:
    """Checks the checker: without one of these rules something is lost silently."""
    monkeypatch.setattr(Contradictions, name, broken)
    with pytest.raises((AssertionError, KeyError)):
        _run(tmp_path, 300)
