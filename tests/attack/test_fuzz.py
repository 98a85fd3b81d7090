"""What fuzzing has found stays fixed, and new seeds of half a minute find nothing.

`corpus` has a file per find, named after its target: `make fuzz` writes them to build/fuzz.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.dense_bodies import DENSE
from tests.soak.fuzz import TARGETS, Ceiling, FindError, Fuzz, mib, narrowed, replayed
from tests.support.wire.fuzz_outcomes import Outcomes

CORPUS = Path(__file__).with_name("corpus")
ROOT = Path(__file__).resolve().parents[2]

FUZZED = ("batches", "directories", "handlers", "requests")
KNOWN_FRAMES = {"batches": 2_000, "directories": 20, "handlers": 1_000, "requests": 10_000}


@pytest.mark.parametrize("name", FUZZED)
def test_what_was_found_stays_fixed(name: str) -> None:
    assert [(file.name, found) for file, found in replayed(CORPUS, name) if found] == []


@pytest.mark.parametrize("size_bytes", [10_000, 60_000])
@pytest.mark.parametrize("name", DENSE)
def test_the_worst_message_of_each_api_stays_below_the_ceiling(name: str, size_bytes: int) -> None:
    make, ceiling, _ = TARGETS["requests"]
    Fuzz(None).feed("requests", make(random.Random(0)), ceiling, [DENSE[name](size_bytes)])


@pytest.mark.parametrize(("name", "frames"), KNOWN_FRAMES.items())
def test_a_known_seed_finds_nothing(name: str, frames: int, capsys: pytest.CaptureFixture[str]) -> None:
    fuzz = Fuzz(None)
    fuzz.slice(name, 1, math.inf, frames)
    assert fuzz.fed[name] >= frames
    assert not fuzz.finds, capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("minutes", ["0.1", pytest.param("0.5", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", FUZZED)
def test_new_seeds_find_nothing(name: str, minutes: str) -> None:
    seed = random.SystemRandom().randrange(10**6)
    command = ["tests/soak/fuzz.py", "--seed", str(seed), "--minutes", minutes, name]
    ran = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    print(ran.stdout)
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout}\n{ran.stderr[-2000:]}"


class Planted:
    """A target that fails for one kind of frame, is slow for another, and takes memory for a third."""

    clock_s = 0.0
    """Of the processor: what other work on this machine takes cannot change it."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def blocks(self) -> Iterator[list[bytes]]:
        yield [b"sound"]

    def feed(self, block: list[bytes], outcomes: Outcomes) -> None:
        for data in block:
            if data == b"fails":
                raise KeyError("content")
            Planted.clock_s += {b"slow": 0.3, b"busy": 0.0002}.get(data, 0)
            if data == b"large":
                bytearray(b"x") * (64 << 20)
            outcomes.counts["decoded"] += 1

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def planted_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "thread_time", lambda: Planted.clock_s)


@pytest.mark.usefixtures("planted_clock")
@pytest.mark.parametrize(
    ("data", "what"),
    [
        pytest.param(b"fails", "KeyError in test_fuzz.py:feed", id="exception"),
        pytest.param(b"slow", "ms of the processor", id="time"),
        pytest.param(b"large", "MiB", id="memory"),
    ],
)
def test_each_kind_of_find_is_noticed(data: bytes, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ceiling = Ceiling(5, 0, mib(32)) if data == b"slow" else Ceiling(60_000, 0, mib(32))
    monkeypatch.setitem(TARGETS, "planted", (Planted, ceiling, 1))
    fuzz = Fuzz(None)
    target = Planted(random.Random(0))
    fuzz.feed("planted", target, ceiling, [b"sound", b"sound"])
    block = [b"sound", data, b"sound", b"sound"]
    with pytest.raises(FindError, match=what) as noticed:
        fuzz.feed("planted", target, ceiling, block)
    assert narrowed("planted", 0, noticed.value).frames == [data]


@pytest.mark.usefixtures("planted_clock")
def test_many_frames_together_may_take_longer_than_one() -> None:
    fuzz = Fuzz(None)
    fuzz.feed("planted", Planted(random.Random(0)), Ceiling(5, 0, mib(32)), [b"busy"] * 300)
    assert fuzz.outcomes["planted"].counts["decoded"] == 600, "each was measured alone"


def test_a_find_is_kept_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fuzz = Fuzz(tmp_path / "corpus")
    for took in (70, 90):
        fuzz.found("requests", FindError(f"took {took} ms", [b"before", b"bytes"]), "--seed 1 --frames 2")
    assert [file.read_bytes() for file in (tmp_path / "corpus").iterdir()] == [b"bytes"]
    printed = capsys.readouterr().out
    assert printed.count("FIND") == 1
    assert "fuzz.py --seed 1 --frames 2 requests" in printed
    assert set(FUZZED) <= set(TARGETS)
