"""What simulated disks do that real ones do seldom: lose power, fill up, fail, decay."""

from __future__ import annotations

import errno
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.storage.batches import batch
from tests.support.file_states import Aftermath
from tests.support.partitions import open_partition
from tests.support.simulator.disks.backup import Backup
from tests.support.simulator.disks.disk import Failing, ProcessEnded, SimulatedDisk
from tests.support.simulator.disks.files import SimulatedFiles
from tests.support.simulator.disks.storage_call import CallLock, StorageCall

LOG = "__cluster_metadata-0/00000000000000000000.log"


@pytest.fixture
def disk() -> Iterator[SimulatedDisk]:
    files = SimulatedFiles()
    disk = files.disk("node-1")
    with files.attach():
        yield disk


def rng(seed: int = 0) -> random.Random:
    return random.Random(seed)


def written(path: Path, data: bytes) -> int:
    """The descriptor of a new file, which holds `data`, nothing forced."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.write(descriptor, data)
    return descriptor


def forced(path: Path, data: bytes) -> int:
    """Like `written`, with everything forced."""
    descriptor = written(path, data)
    os.fsync(descriptor)
    force(path.parent)
    return descriptor


def force(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def tree(disk: SimulatedDisk) -> dict[str, bytes]:
    return {name: disk.content(name) for name in disk.names()}


def test_temporary_names_are_the_same_in_every_run(disk: SimulatedDisk) -> None:
    (disk.root / "x00000002.part").touch()
    names = [tempfile.mkstemp(".part", "x", disk.root)[1] for _ in range(2)]
    assert names == [f"{disk.root}/x00000001.part", f"{disk.root}/x00000003.part"]


def test_a_power_failure_leaves_what_was_forced(disk: SimulatedDisk) -> None:
    forced(disk.root / "forced", b"abc")
    written(disk.root / "name-only", b"abc")
    force(disk.root)
    os.fsync(written(disk.root / "content-only", b"abc"))
    os.pwrite(os.open(disk.root / "forced", os.O_RDWR), b"xyz1", 1)
    loss = disk.lose_power(Aftermath.STRICT, rng())
    assert tree(disk) == {"forced": b"abc", "name-only": b""}
    assert loss.lost_bytes == 7
    assert loss.lost_names_count == 1
    assert disk.open_files_count() == 0


def test_a_truncation_that_is_lost_leaves_the_old_content(disk: SimulatedDisk) -> None:
    number = forced(disk.root / "file", b"old")
    os.ftruncate(number, 1)
    os.pwrite(number, b"new", 2)
    os.ftruncate(number, 9)
    assert tree(disk) == {"file": b"o\0new\0\0\0\0"}
    disk.lose_power(Aftermath.STRICT, rng())
    assert tree(disk) == {"file": b"old"}


def test_a_replacement_that_is_lost_leaves_the_old_content(disk: SimulatedDisk) -> None:
    forced(disk.root / "file", b"old")
    forced(disk.root / "new", b"new")
    os.replace(disk.root / "new", disk.root / "file")
    assert tree(disk) == {"file": b"new"}
    disk.lose_power(Aftermath.STRICT, rng())
    assert tree(disk) == {"file": b"old", "new": b"new"}


@pytest.mark.parametrize("aftermath", list(Aftermath))
def test_what_survives_stays(disk: SimulatedDisk, aftermath: Aftermath) -> None:
    for seed in range(20):
        number = written(disk.root / f"{seed}.log", bytes(100))
        os.pwrite(number, b"x" * 1000, 50)
        disk.lose_power(aftermath, rng(seed))
        survived = tree(disk)
        disk.lose_power(Aftermath.STRICT, rng())
        assert tree(disk) == survived


def test_writes_are_torn_and_reordered(disk: SimulatedDisk) -> None:
    """And counted."""
    found = set()
    for seed in range(60):
        for aftermath in (Aftermath.PREFIX, Aftermath.PAGES):
            path = disk.root / "short.log"
            number = forced(path, b"")
            for letter in b"abc":
                os.write(number, bytes([letter]) * 100)
            loss = disk.lose_power(aftermath, rng(seed))
            content = disk.content("short.log")
            kept = sum(content.count(letter) for letter in b"abc")
            assert loss.lost_bytes == 300 - kept
            torn = any(0 < content.count(letter) < 100 for letter in b"abc")
            assert loss.torn_count == torn
            found.add((aftermath, torn, loss.reordered_count))
            path.unlink()
    assert {(Aftermath.PREFIX, True, 0), (Aftermath.PAGES, True, 1)} <= found


def test_a_kill_keeps_what_was_written(disk: SimulatedDisk) -> None:
    written(disk.root / "file", b"abc")
    disk.kill(rng())
    assert tree(disk) == {"file": b"abc"}
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(1_000_000_000)
    disk.lose_power(Aftermath.STRICT, rng())
    assert tree(disk) == {}


class TestEarlyCalls:
    """Their code runs at the beginning, their effects happen up to the end."""

    def start(self, disk: SimulatedDisk) -> tuple[int, StorageCall]:
        """A call that writes `a`, forces it and writes `b` to a file that holds `0`."""
        number = forced(disk.root / "file", b"0")
        call = disk.begin()
        os.write(number, b"a")
        os.fsync(number)
        os.write(number, b"b")
        disk.code_ended(call)
        return number, call

    def test_an_fsync_forces_when_the_call_is_finished(self, disk: SimulatedDisk) -> None:
        _, call = self.start(disk)
        assert disk.content("file") == b"0ab"
        assert disk.content("file", forced=True) == b"0"
        disk.finish(call)
        assert disk.content("file", forced=True) == b"0a"

    def test_it_covers_what_was_written_before_it(self, disk: SimulatedDisk) -> None:
        number, call = self.start(disk)
        os.write(number, b"c")
        disk.finish(call)
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file") == b"0a"

    def test_the_power_fails_before_the_fsync_ends(self, disk: SimulatedDisk) -> None:
        self.start(disk)
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file") == b"0"

    def test_a_power_failure_meets_it_anywhere(self, disk: SimulatedDisk) -> None:
        left = set()
        for seed in range(40):
            self.start(disk)
            disk.lose_power(Aftermath.PREFIX, rng(seed))
            left.add(disk.content("file"))
            disk.wipe()
        assert left == {b"0", b"0a", b"0ab"}

    def test_a_kill_meets_it_anywhere_and_what_came_before_a_kept_change_is_forced(
        self, disk: SimulatedDisk
    ) -> None:
        left = set()
        for seed in range(40):
            self.start(disk)
            disk.kill(rng(seed))
            left.add((disk.content("file"), disk.content("file", forced=True)))
            disk.wipe()
        assert left == {(b"0a", b"0"), (b"0a", b"0a"), (b"0ab", b"0a")}

    def test_another_fsync_forces_all_but_what_it_may_not_have_reached(self, disk: SimulatedDisk) -> None:
        number, _ = self.start(disk)
        os.fsync(number)
        assert disk.content("file", forced=True) == b"0a"
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file") == b"0a"

    @pytest.mark.parametrize(
        "meet",
        [
            pytest.param(lambda number: os.pread(number, 9, 0), id="read"),
            pytest.param(lambda number: os.pwrite(number, b"b", 2), id="written"),
            pytest.param(lambda number: os.ftruncate(number, 3), id="truncated"),
            pytest.param(lambda number: os.fstat(number), id="measured"),
            pytest.param(lambda number: os.lseek(number, 0, os.SEEK_END), id="its-end"),
        ],
    )
    def test_it_has_got_to_where_other_code_meets_it(
        self, disk: SimulatedDisk, meet: Callable[[int], object]
    ) -> None:
        """What the other code does next may depend on it."""
        number, _ = self.start(disk)
        meet(number)
        assert disk.content("file", forced=True) == b"0a"
        os.fsync(number)
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file") == b"0ab"

    @pytest.mark.parametrize(
        "meet",
        [
            pytest.param(lambda root: (root / "file").read_bytes(), id="opened"),
            pytest.param(lambda root: (root / "new").exists(), id="looked-for"),
            pytest.param(lambda root: os.listdir(root), id="listed"),
            pytest.param(lambda root: (root / "other").touch(), id="beside-it"),
        ],
    )
    def test_that_holds_for_names_too(self, disk: SimulatedDisk, meet: Callable[[Path], object]) -> None:
        forced(disk.root / "file", b"old")
        call = disk.begin()
        os.fsync(written(disk.root / "new", b"new"))
        os.replace(disk.root / "new", disk.root / "file")
        disk.code_ended(call)
        meet(disk.root)
        force(disk.root)
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file") == b"new"

    def test_that_holds_for_locks_too(self, disk: SimulatedDisk) -> None:
        lock = CallLock(disk)
        number = forced(disk.root / "file", b"0")
        call = disk.begin()
        with lock:
            os.write(number, b"a")
            os.fsync(number)
        with lock:
            assert disk.content("file", forced=True) == b"0", "it does not meet itself"
        disk.code_ended(call)
        with lock:
            assert disk.content("file", forced=True) == b"0a"

    def test_two_calls_at_a_time(self, disk: SimulatedDisk) -> None:
        """The second one meets the first, and ends before it."""
        number, first = self.start(disk)
        second = disk.begin()
        os.write(number, b"c")
        os.fsync(number)
        os.write(number, b"d")
        disk.code_ended(second)
        assert disk.content("file", forced=True) == b"0a"
        disk.finish(second)
        assert disk.content("file", forced=True) == b"0abc"
        disk.finish(first)
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file") == b"0abc"

    def test_its_second_fsync_may_fail_which_ends_the_first(self, disk: SimulatedDisk) -> None:
        number = forced(disk.root / "file", b"0")
        call = disk.begin()
        os.write(number, b"a")
        os.fsync(number)
        os.write(number, b"b")
        disk.fsync_fails = Failing.ONCE
        with pytest.raises(OSError, match="Input/output"):
            os.fsync(number)
        disk.code_ended(call)
        disk.finish(call)
        assert disk.content("file") == b"0a\0"
        disk.kill(rng())

    def test_what_it_wrote_last_can_be_forced_when_it_is_finished(self, disk: SimulatedDisk) -> None:
        number, call = self.start(disk)
        os.write(number, b"c")
        os.fsync(number)
        disk.finish(call)
        os.fsync(number)
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file") == b"0abc"

    def test_names_wait_for_it_too(self, disk: SimulatedDisk) -> None:
        forced(disk.root / "file", b"old")
        call = disk.begin()
        os.fsync(written(disk.root / "new", b"new"))
        os.replace(disk.root / "new", disk.root / "file")
        force(disk.root)
        disk.code_ended(call)
        force(disk.root)
        disk.lose_power(Aftermath.STRICT, rng())
        assert tree(disk) == {"file": b"old", "new": b""}

    def test_the_process_of_a_finished_one_has_everything(self, disk: SimulatedDisk) -> None:
        forced(disk.root / "file", b"old")
        call = disk.begin()
        os.fsync(written(disk.root / "new", b"new"))
        os.replace(disk.root / "new", disk.root / "file")
        force(disk.root)
        disk.code_ended(call)
        disk.finish(call)
        disk.lose_power(Aftermath.STRICT, rng())
        assert tree(disk) == {"file": b"new"}


class TestBomb:
    def work(self, disk: SimulatedDisk) -> None:
        try:
            number = forced(disk.root / "file", b"abc")
            os.ftruncate(number, 1)
        finally:
            (disk.root / "file").unlink(missing_ok=True)

    def test_a_call_ends_anywhere_and_does_nothing_more(self, disk: SimulatedDisk) -> None:
        left = set()
        for seed in range(100):
            got_through = disk.run_until_bomb(lambda: self.work(disk), rng(seed))
            left.add((got_through, disk.content("file") if disk.names() else None))
            disk.kill(rng())
            disk.wipe()
        assert left == {(False, None), (False, b""), (False, b"abc"), (False, b"a"), (True, None)}

    def test_the_number_of_calls_can_be_given(self, disk: SimulatedDisk) -> None:
        disk.calls_left = 2
        number = written(disk.root / "file", b"abc")
        for call in (lambda: os.fsync(number), lambda: os.write(number, b"d"), lambda: force(disk.root)):
            with pytest.raises(ProcessEnded):
                call()
        assert tree(disk) == {"file": b"abc"}


class TestFaults:
    def test_a_full_disk_takes_a_part_then_nothing(self, disk: SimulatedDisk) -> None:
        number = written(disk.root / "file", b"abc")
        disk.bytes_left = 2
        assert os.write(number, b"defg") == 2
        with pytest.raises(OSError, match="No space left"):
            os.write(number, b"fg")
        assert os.pwrite(number, b"ABCDE", 0) == 5, "what is there already takes no room"
        assert disk.content("file") == b"ABCDE"
        assert disk.no_space_count == 2

    def test_what_is_removed_makes_room(self, disk: SimulatedDisk) -> None:
        number = written(disk.root / "file", b"abc")
        disk.bytes_left = 0
        os.ftruncate(number, 1)
        assert disk.bytes_left == 2
        (disk.root / "file").unlink()
        assert disk.bytes_left == 3
        os.ftruncate(written(disk.root / "hole", b""), 10_000_000)
        assert disk.bytes_left == 3

    def test_a_failing_fsync_drops_what_it_should_have_forced(self, disk: SimulatedDisk) -> None:
        number = forced(disk.root / "file", b"abc")
        os.pwrite(number, b"xyz", 2)
        disk.fsync_fails = Failing.ONCE
        with pytest.raises(OSError, match="Input/output"):
            os.fsync(number)
        assert disk.content("file") == b"abc\0\0"
        os.fsync(number)
        assert disk.fsync_failures_count == 1

    def test_it_may_fail_for_good(self, disk: SimulatedDisk) -> None:
        number = forced(disk.root / "file", b"abc")
        disk.fsync_fails = Failing.ALWAYS
        for _ in range(2):
            with pytest.raises(OSError, match="Input/output"):
                os.fsync(number)

    def test_reads_fail(self, disk: SimulatedDisk) -> None:
        forced(disk.root / "file", b"abc")
        disk.read_fails = Failing.ONCE
        with pytest.raises(OSError, match="Input/output"):
            (disk.root / "file").read_bytes()
        assert (disk.root / "file").read_bytes() == b"abc"
        assert disk.read_failures_count == 1


class TestDamage:
    def test_a_bit_flips_below_what_is_not_forced(self, disk: SimulatedDisk) -> None:
        number = forced(disk.root / "file.log", b"ab")
        os.write(number, b"cd")
        (disk.root / "other").touch()
        found = disk.flip_bit(rng(), [".log", "other"])
        assert found is not None
        assert found.name == "file.log"
        assert disk.content("file.log")[2:] == b"cd"
        differing = [
            at
            for at, pair in enumerate(zip(b"ab", disk.content("file.log"), strict=False))
            if len(set(pair)) > 1
        ]
        assert differing == [found.position]
        disk.lose_power(Aftermath.STRICT, rng())
        assert disk.content("file.log") != b"ab"

    def test_nothing_to_damage(self, disk: SimulatedDisk) -> None:
        written(disk.root / "file.log", b"ab")
        for damage in (disk.flip_bit, disk.cut_tail, disk.append_garbage, disk.swap):
            assert damage(rng()) is None

    def test_tails_and_places(self, disk: SimulatedDisk) -> None:
        forced(disk.root / "1.log", b"a" * 400)
        assert disk.cut_tail(rng()) is not None
        cut = disk.content("1.log")
        assert 0 < len(cut) < 400
        found = disk.append_garbage(rng())
        assert found is not None
        assert found.position == len(cut)
        assert disk.content("1.log")[: len(cut)] == cut
        forced(disk.root / "2.log", b"b")
        damaged = disk.content("1.log")
        assert disk.swap(rng()) is not None
        assert tree(disk) == {"1.log": b"b", "2.log": damaged}


def test_a_partition_lives_on_it(disk: SimulatedDisk) -> None:
    """Appends, elections, a snapshot and power failures that take nothing acknowledged."""
    partition = open_partition(disk.root)
    for epoch in range(1, 6):
        partition.write_quorum_state(ElectionState(epoch=epoch, data_version=1))
        for _ in range(3):
            partition.log.append(batch(partition.log.end_offset, epoch))
        durable_end = partition.flush()
        partition.log.append(batch(partition.log.end_offset, epoch))
        disk.lose_power(Aftermath.STRICT, rng(epoch))
        partition = open_partition(disk.root)
        assert partition.log.end_offset == durable_end
        state = partition.read_quorum_state()
        assert state is not None
        assert state.epoch == epoch
        assert partition.recovering_epoch is None
    partition.write_snapshot(OffsetAndEpoch(3, 1), [])
    partition.close()
    assert disk.open_files_count() == 0


def test_a_directory_starts_from_a_backup(disk: SimulatedDisk, tmp_path: Path) -> None:
    partition = open_partition(disk.root)
    partition.write_quorum_state(ElectionState(epoch=1, data_version=1))
    partition.log.append(batch(0, 1))
    partition.close()
    backup, before = disk.save(), tree(disk)
    (disk.root / LOG).write_bytes(b"damaged")
    disk.restore(backup)
    assert tree(disk) == before
    copy = SimulatedFiles().disk("node-2")
    copy.restore(backup)
    assert tree(copy) == before
    backup.write(tmp_path)
    copy.restore(Backup.read(tmp_path))
    assert tree(copy) == before
    assert open_partition(tmp_path).log.end_offset == 1


def test_a_wiped_directory_keeps_its_identity(disk: SimulatedDisk) -> None:
    partition = open_partition(disk.root)
    partition.close()
    disk.wipe(keep=("meta.properties", "metadata-recovery-point"))
    assert disk.names() == ["metadata-recovery-point"]
    disk.wipe()
    assert disk.names() == []


def test_an_unknown_descriptor_is_refused(disk: SimulatedDisk) -> None:
    number = written(disk.root / "file", b"")
    os.close(number)
    with pytest.raises(OSError) as caught:
        os.write(number, b"x")
    assert caught.value.errno == errno.EBADF
