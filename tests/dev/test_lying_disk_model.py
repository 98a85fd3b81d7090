"""The lying disk: only the flushed bytes of small programs are certain to survive."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.file_states import Aftermath, FileState, Truncate, Write
from tests.support.lying_disk.disk_model import DiskModel, Tree
from tests.support.lying_disk.lying_disk import LyingDisk, build_shim, read_tree

WAIT_S = 30.0

PRELUDE = """
import os, signal, sys

def write(path, data, flags=os.O_CREAT, position=None):
    descriptor = os.open(path, os.O_RDWR | flags)
    os.write(descriptor, data) if position is None else os.pwrite(descriptor, data, position)
    return descriptor

def force(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)

"""

KILL = "\nos.kill(os.getpid(), signal.SIGKILL)\n"


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def disk(shim: Path, tmp_path: Path) -> LyingDisk:
    """With one file in it."""
    root = tmp_path / "disk"
    root.mkdir()
    (root / "old").write_bytes(b"old")
    return LyingDisk(shim, root)


def start(disk: LyingDisk, program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-S", "-c", PRELUDE + program],
        cwd=disk.root,
        env={**os.environ, **disk.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(disk: LyingDisk, program: str) -> str:
    """Kills itself at the end; returns what it printed."""
    with start(disk, program + "\nsys.stdout.flush()" + KILL) as process:
        printed, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == -9, printed
    return printed


def left_by(disk: LyingDisk, program: str, aftermath: Aftermath = Aftermath.STRICT, seed: int = 0) -> Tree:
    run(disk, program)
    disk.fail_power(aftermath, random.Random(seed))
    return read_tree(disk.root)


OLD: Tree = {"old": b"old"}

CASES = [
    pytest.param("write('new', b'x')", OLD, id="nothing-forced"),
    pytest.param("os.fsync(write('new', b'x'))", OLD, id="a-file-without-its-name"),
    pytest.param("write('new', b'x'); force('.')", {**OLD, "new": b""}, id="a-name-without-its-content"),
    pytest.param("os.fsync(write('new', b'x')); force('.')", {**OLD, "new": b"x"}, id="file-and-name"),
    pytest.param("os.fdatasync(write('new', b'x')); force('.')", {**OLD, "new": b"x"}, id="fdatasync"),
    pytest.param("force('.'); os.fsync(write('new', b'x'))", OLD, id="the-directory-too-early"),
    pytest.param("d = write('old', b'new'); os.fsync(d); os.write(d, b'er')", {"old": b"new"}, id="a-tail"),
    pytest.param("os.fsync(write('old', b'n', os.O_APPEND))", {"old": b"oldn"}, id="appended"),
    pytest.param("os.fsync(write('old', b'n', position=5))", {"old": b"old\0\0n"}, id="beyond-the-end"),
    pytest.param("open('old', 'wb').close()", OLD, id="emptied-by-open"),
    pytest.param("d = write('old', b''); os.ftruncate(d, 1)", OLD, id="truncated"),
    pytest.param("d = write('old', b''); os.ftruncate(d, 1); os.fsync(d)", {"old": b"o"}, id="cut-forced"),
    pytest.param("os.truncate('old', 1); force('old')", {"old": b"o"}, id="truncated-by-path"),
    pytest.param("os.rename('old', 'new')", OLD, id="renamed"),
    pytest.param("os.rename('old', 'new'); force('new')", OLD, id="renamed-without-the-directory"),
    pytest.param("os.rename('old', 'new'); force('.')", {"new": b"old"}, id="renamed-and-forced"),
    pytest.param("write('new', b'new'); os.replace('new', 'old'); force('.')", {"old": b""}, id="unforced"),
    pytest.param(
        "os.fsync(write('new', b'new')); os.replace('new', 'old'); force('.')", {"old": b"new"}, id="replaced"
    ),
    pytest.param("os.fsync(write('new', b'new')); os.replace('new', 'old')", OLD, id="replaced-not-the-name"),
    pytest.param("os.unlink('old')", OLD, id="removed"),
    pytest.param("os.unlink('old'); force('.')", {}, id="removed-and-forced"),
    pytest.param("os.link('old', 'new'); force('.')", {**OLD, "new": b"old"}, id="linked"),
    pytest.param("os.mkdir('in'); os.fsync(write('in/new', b'x')); force('in')", OLD, id="lost-directory"),
    pytest.param(
        "os.mkdir('in'); os.fsync(write('in/new', b'x')); force('in'); force('.')",
        {**OLD, "in": None, "in/new": b"x"},
        id="in-a-directory",
    ),
    pytest.param("os.unlink('old'); os.fsync(write('old', b'x'))", OLD, id="made-anew-under-an-old-name"),
    pytest.param(
        "a = os.open('.', os.O_RDONLY); os.fsync(os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=a));"
        "os.rename('new', 'newer', src_dir_fd=a, dst_dir_fd=a); os.unlink('old', dir_fd=a); os.fsync(a)",
        {"newer": b""},
        id="relative-to-a-directory",
    ),
]


@pytest.mark.parametrize(("program", "left"), CASES)
def test_only_what_was_forced_is_left(disk: LyingDisk, program: str, left: Tree) -> None:
    assert left_by(disk, program) == left


@pytest.mark.parametrize(("program", "left"), CASES)
def test_a_kill_alone_loses_nothing_and_the_shim_notices_everything(
    disk: LyingDisk, program: str, left: Tree
) -> None:
    run(disk, program)
    disk.play()
    assert disk.model.written() == read_tree(disk.root)


def test_what_is_not_forced_may_survive_whole_in_part_or_torn(disk: LyingDisk) -> None:
    found = set()
    for seed in range(60):
        tree = left_by(disk, "write('new', b'abcdef', os.O_CREAT | os.O_TRUNC)", Aftermath.PREFIX, seed)
        found.add(tree.get("new", b"no name"))
        (disk.root / "new").unlink(missing_ok=True)
        disk = LyingDisk(Path(disk.environment["LD_PRELOAD"]), disk.root)
        if {b"no name", b"", b"abcdef"} < found:
            return
    raise AssertionError(found)


def test_pages_are_written_back_in_any_order() -> None:
    file = FileState(b"o" * 10_000)
    file.change(Write(9_000, b"a" * 4_000))
    file.change(Write(13_000, b"b" * 4_000))
    left = {file.surviving(Aftermath.PAGES, random.Random(seed)).content() for seed in range(200)}
    assert file.forced_content().content() in left
    assert file.content() in left
    hole = [content for content in left if content.endswith(b"b") and b"o\0" in content]
    assert hole, "the second page survived, the first one did not"
    assert all(content.startswith(b"o" * 9_000) for content in left)


def test_a_truncation_survives_before_what_was_written_after_it() -> None:
    file = FileState(b"old")
    file.change(Truncate(1))
    file.change(Write(1, b"new"))
    left = {file.surviving(Aftermath.PAGES, random.Random(seed)).content() for seed in range(100)}
    assert left == {b"old", b"o", b"onew", b"o\0\0\0"}


def test_an_fsync_covers_what_was_there_when_it_began(disk: LyingDisk) -> None:
    program = """
import threading
d = write('old', b'new')
forcing = threading.Thread(target=os.fsync, args=(d,))
forcing.start()
sys.stdin.readline()
os.write(d, b'er')
print('written', flush=True)
forcing.join()
"""
    disk.rule("fsync stall 20000")
    with start(disk, program + KILL) as process:
        disk.await_stall("fsync")
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "written\n"
        disk.rule()
        process.communicate(timeout=WAIT_S)
    disk.fail_power(Aftermath.STRICT, random.Random(0))
    assert read_tree(disk.root) == {"old": b"new"}


def test_an_fsync_that_is_under_way_when_the_power_fails_has_forced_nothing(disk: LyingDisk) -> None:
    disk.rule("fsync stall 20000")
    with start(disk, "os.fsync(write('old', b'new'))") as process:
        disk.await_stall("fsync")
        process.kill()
    disk.fail_power(Aftermath.STRICT, random.Random(0))
    assert read_tree(disk.root) == OLD


def test_what_one_process_left_unforced_another_one_can_force(disk: LyingDisk) -> None:
    run(disk, "write('old', b'new')")
    disk.settle()
    assert left_by(disk, "force('old')") == {"old": b"new"}


def test_a_torn_record_is_cut_before_the_next_process(disk: LyingDisk) -> None:
    run(disk, "write('old', b'new')")
    journal = Path(disk.environment["LYING_DISK_JOURNAL"])
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-2])
    disk.settle()
    assert disk.model.written() == {"old": b"new"}
    assert left_by(disk, "force('old')") == {"old": b"new"}


def test_what_the_shim_misses_is_found_out(disk: LyingDisk) -> None:
    run(disk, "")
    for number in range(5):
        (disk.root / f"{number}").write_bytes(b"x")
    with pytest.raises(AssertionError, match="missed"):
        disk.settle()


def test_the_model_has_a_past(disk: LyingDisk) -> None:
    run(disk, "write('old', b'new')")
    middle_ns = time.monotonic_ns()
    run(disk, "write('old', b'later')")
    disk.play(middle_ns)
    assert disk.model.written() == {"old": b"new"}
    disk.play()
    assert disk.model.written() == {"old": b"later"}


def test_a_rule_stalls_one_call_and_no_other_thread(disk: LyingDisk) -> None:
    program = """
import threading
threading.Thread(target=os.rename, args=('old', 'new'), daemon=True).start()
sys.stdin.readline()
os.fsync(write('other', b'x'))
print(os.path.exists('new'), flush=True)
sys.stdin.readline()
"""
    disk.rule("rename stall 20000 new")
    with start(disk, program) as process:
        disk.await_stall("rename")
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "False\n"
        process.kill()


@pytest.mark.parametrize(
    ("call", "program"),
    [
        ("fsync", "os.fsync(write('old', b'x'))"),
        ("write", "write('old', b'x')"),
        ("open", "write('new', b'x')"),
        ("rename", "os.rename('old', 'new')"),
        ("unlink", "os.unlink('old')"),
        ("truncate", "os.truncate('old', 1)"),
        ("link", "os.link('old', 'new')"),
        ("mkdir", "os.mkdir('new')"),
    ],
)
def test_a_rule_fails_a_call(disk: LyingDisk, call: str, program: str) -> None:
    disk.rule(f"{call} fail {errno.ENOSPC}")
    printed = run(disk, f"try: {program}\nexcept OSError as error: print(error.errno)")
    assert printed == f"{errno.ENOSPC}\n"
    disk.settle()


def test_nothing_happens_to_other_directories(disk: LyingDisk, tmp_path: Path) -> None:
    (tmp_path / "disk-beside").mkdir()
    run(disk, "os.chdir('../disk-beside'); os.fsync(write('new', b'x')); os.rename('new', 'newer')")
    disk.play()
    assert disk.model.written() == OLD
    assert read_tree(tmp_path / "disk-beside") == {"newer": b"x"}


def test_threads_that_write_at_the_same_time_are_recorded_in_order(disk: LyingDisk) -> None:
    program = """
import threading

def work(number):
    for at in range(200):
        os.close(write(f'file-{number % 2}', bytes([number]) * (at + 1), os.O_CREAT, at))
        os.replace(os.open(f'own-{number}', os.O_CREAT) and f'own-{number}', f'file-{number % 2}')

threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    run(disk, program)
    disk.play()
    assert disk.model.written() == read_tree(disk.root)


def test_adopting_takes_everything_for_forced(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(b"x")
    model = DiskModel.adopt(tmp_path)
    assert model.surviving(Aftermath.STRICT, random.Random(0)) == {"in": None, "in/file": b"x"}
