"""What every store promises."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.store import Store

RACERS = 8


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return LocalStore(tmp_path / "store")


def test_a_file_is_created_once(store: Store) -> None:
    assert store.create("a/1.json", b"first")
    assert not store.create("a/1.json", b"second")
    assert store.read("a/1.json") == b"first"
    assert store.size("a/1.json") == 5


def test_one_of_many_that_create_a_file_wins(store: Store) -> None:
    """And the file has its content."""
    for number in range(50):
        name, barrier = f"a/{number:020}.json", threading.Barrier(RACERS)
        won: list[int] = []

        def race(own: int, name=name, barrier=barrier, won=won) -> None:
            barrier.wait()
            if store.create(name, b"%d" % own):
                won.append(own)

        racers = [threading.Thread(target=race, args=(own,)) for own in range(RACERS)]
        for one in racers:
            one.start()
        for one in racers:
            one.join()
        assert len(won) == 1
        assert store.read(name) == b"%d" % won[0]


def test_what_is_missing(store: Store, tmp_path: Path) -> None:
    assert store.size("a/1") is None
    assert store.names("a") == []
    store.delete(["a/1"])
    with pytest.raises(FileNotFoundError):
        store.read("a/1")
    with pytest.raises(FileNotFoundError):
        store.fetch_to("a/1", tmp_path / "fetched")


def test_names_are_those_below_a_directory(store: Store) -> None:
    for name in ("ab/3", "a/2", "a/b/1", "a/1"):
        store.create(name, b"")
    assert store.names("a") == ["a/1", "a/2", "a/b/1"]
    assert store.names("a", after="a/1") == ["a/2", "a/b/1"]
    assert store.names("") == ["a/1", "a/2", "a/b/1", "ab/3"]
    store.delete(["a/2", "a/4"])
    assert store.names("a") == ["a/1", "a/b/1"]


def test_a_local_file_is_put_and_fetched(store: Store, tmp_path: Path) -> None:
    for content in (b"old", b"new"):
        (tmp_path / "source").write_bytes(content)
        store.put_file("a/1", tmp_path / "source")
    store.fetch_to("a/1", tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == store.read("a/1") == b"new"
    assert store.names("") == ["a/1"]


def test_a_failed_create_leaves_nothing(tmp_path: Path) -> None:
    class FailedError(Exception):
        pass

    def fail(step: str) -> None:
        raise FailedError(step)

    with pytest.raises(FailedError, match="json-written"):
        LocalStore(tmp_path, fail).create("1.json", b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_a_cleanup_deletes_is_written_again(tmp_path: Path) -> None:
    """What is not finished looks like what a killed process has left."""
    cleanups = [1, 2]

    def clean_up(step: str) -> None:
        if cleanups:
            cleanups.pop()
            next(tmp_path.glob(".*.tmp")).unlink()

    assert LocalStore(tmp_path, clean_up).create("1.json", b"x")
    assert (tmp_path / "1.json").read_bytes() == b"x"
    cleanups += range(10)
    with pytest.raises(FileNotFoundError):
        LocalStore(tmp_path, clean_up).create("2.json", b"x")


def test_a_link_that_nfs_made_twice_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def twice(source: Path, target: Path) -> None:
        link(source, target)
        link(source, target)

    monkeypatch.setattr(os, "link", twice)
    assert LocalStore(tmp_path).create("1", b"x")
    assert not LocalStore(tmp_path).create("1", b"y")


def test_a_file_system_without_hard_links_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match="has no hard links"):
        LocalStore(tmp_path).create("1", b"x")


def test_a_file_of_another_file_system_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"x")
    replace = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if path == source:
            raise OSError(errno.EXDEV, "another device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refuse)
    store = LocalStore(tmp_path / "store")
    store.put_file("a/1", source)
    assert (store.read("a/1"), store.names("")) == (b"x", ["a/1"])
