"""`make fuzz`: frames, batches and directories that no program writes, with limits of time and memory.

`fuzz.py --seed 7 --minutes 5` feeds all targets in turn; names select some. With `--frames 10000000`
each is fed so many. What must not happen is a find: an exception that the target does not document, more
processor time or more memory than a frame of that length may take. It is printed immediately, with the
line that repeats it, and its bytes are written to `--corpus`.

| target | is fed |
|---|---|
| requests | every API and version, decoded as a connection does |
| handlers | the same, and requests that are valid for it, to a whole controller |
| batches | record batches with a valid checksum around any records |
| directories | the files of a controller, one of them damaged, to a controller that starts |

Frames are fed in blocks. Clocks are read once for a block; if all of it took more than one of its frames may,
its frames are fed one by one.
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import re
import resource
import struct
import sys
import time
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.apis.api_table import API_TABLE
from kraftctl.apis.request_size import SMALL
from kraftctl_protocol import primitives
from tests.support.wire.fuzz_outcomes import Outcomes
from tests.support.wire.fuzzed_files import FuzzedBatches, FuzzedDirectories
from tests.support.wire.fuzzed_handlers import HandledRequests
from tests.support.wire.fuzzed_requests import KINDS, DecodedRequests

MIB = 1 << 20
UNCOUNTED_BYTES = 64 << 10
"""What a decoder may take beyond its budget: a header, a message without its arrays."""

PROGRESS_SECONDS = 30.0
HEAP_KIB = 16 << 10
"""A heap may grow by so much while a block is fed, whatever its frames take."""

FINDS_MAX = 20
"""Different ones; then the rest of the time is not spent."""

COMPILED = not str(primitives.__file__).endswith(".py")
SLOWNESS = 1 if COMPILED else 10
LARGENESS = 1 if COMPILED else 2
"""Of the sources; limits of time, and what is drawn from budgets, are those of compiled code."""

PEAK = Path("/proc/self/clear_refs")
"""Writing 5 makes the largest resident size the one of now."""

NUMBER = re.compile(r"\d+")


class Target(Protocol):
    """What is fed: `feed` counts what becomes of each frame, and raises nothing that it documents."""

    def blocks(self) -> Iterator[list[bytes]]:
        """A few blocks; a frame that may take much is a block of its own."""
        ...

    def feed(self, block: list[bytes], outcomes: Outcomes) -> None: ...

    def close(self) -> None: ...


class FindError(Exception):
    """What was found, and with which frames: one of them, or the last after those before it."""

    def __init__(self, what: str, frames: list[bytes]) -> None:
        super().__init__(what)
        self.what = what
        self.frames = frames


class Ceiling:
    """What one frame may take: processor time of this thread, and growth of the largest resident size.

    With `traced`, a frame that is a block of its own is fed twice, and what was allocated counts instead: to
    the byte, but that takes several times as long.
    """

    def __init__(
        self,
        milliseconds: float,
        microseconds_per_byte: float,
        memory_bytes: Callable[[bytes], int],
        *,
        traced: bool = False,
    ) -> None:
        self.traced = traced
        self._seconds = milliseconds / 1e3 * SLOWNESS
        self._seconds_per_byte = microseconds_per_byte / 1e6 * SLOWNESS
        self._memory_bytes = memory_bytes

    def passed(self, data: bytes, seconds: float, grown_kib: int) -> str:
        """What was passed, or nothing."""
        if seconds > self._seconds + len(data) * self._seconds_per_byte:
            return f"took {seconds * 1e3:.0f} ms of the processor"
        return self.passed_memory(data, grown_kib)

    def passed_memory(self, data: bytes, grown_kib: int) -> str:
        return f"took {grown_kib / 1024:.0f} MiB" if grown_kib * 1024 > self._memory_bytes(data) else ""


def mib(number: int) -> Callable[[bytes], int]:
    """The same for every frame."""
    return lambda data: number * MIB


def decoding(data: bytes) -> int:
    """What the API of a request allows, whatever the frame itself takes."""
    api = API_TABLE.get(int.from_bytes(data[:2], "big", signed=True))
    memory_bytes = (SMALL if api is None else api.size).memory_bytes_max
    return memory_bytes * LARGENESS + len(data) + UNCOUNTED_BYTES


TARGETS: dict[str, tuple[Callable[[random.Random], Target], Ceiling, int]] = {
    "requests": (DecodedRequests, Ceiling(50, 0.5, decoding, traced=True), 500_000),
    "handlers": (HandledRequests, Ceiling(500, 2.0, mib(256)), 50_000),
    "batches": (FuzzedBatches, Ceiling(50, 0.5, mib(64)), 50_000),
    "directories": (FuzzedDirectories, Ceiling(2000, 0.5, mib(256)), 100),
}
"""With the limits of one frame, and how many frames are fed before the next target: a slice, with a seed of
its own. Times are several times those of an idle machine. In a handler of random requests, 10,000 records are
written for some; a directory is replayed."""


class Fuzz:
    """The totals of all targets."""

    def __init__(self, corpus: Path | None) -> None:
        self.fed: Counter[str] = Counter()
        self.outcomes: dict[str, Outcomes] = {}
        self.finds: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self._corpus = corpus

    def slice(self, name: str, seed: int, until: float, frames_max: int) -> None:
        """Feeds one target, new with this seed, about so many frames, or until then."""
        make, ceiling, _ = TARGETS[name]
        target = make(random.Random(f"{name} {seed}"))
        began = self.fed[name]
        try:
            while self.fed[name] - began < frames_max and time.monotonic() < until:
                for block in target.blocks():
                    self.feed(name, target, ceiling, block)
        except FindError as find:
            self.found(name, narrowed(name, seed, find), f"--seed {seed} --frames {self.fed[name] - began}")
        finally:
            target.close()

    def feed(self, name: str, target: Target, ceiling: Ceiling, block: list[bytes]) -> None:
        """Raises FindError; the target is of no further use then."""
        if not block:
            return
        self.fed[name] += len(block)
        outcomes = self.outcomes.setdefault(name, Outcomes())
        seconds, grown_kib = measured(target, block, outcomes)
        if len(block) == 1:
            self.slowest[name] = max(self.slowest.get(name, 0.0), seconds)
            if ceiling.traced:
                grown_kib = allocated_kib(target, block)
        if len(block) > 1:
            grown_kib -= HEAP_KIB
        passed = ceiling.passed(min(block, key=len), seconds, grown_kib)
        if passed and len(block) > 1:
            # Many together may take that long. Memory that was taken once may be there the next time.
            passed = "" if ceiling.traced else ceiling.passed_memory(min(block, key=len), grown_kib)
            for data in block:
                self.feed(name, target, ceiling, [data])
        if passed:
            raise FindError(passed, block)

    def found(self, name: str, find: FindError, command: str) -> None:
        """Counts it; the first of its kind is printed and kept."""
        kind = f"{name}: {NUMBER.sub('N', find.what)}"
        self.finds[kind] += 1
        if self.finds[kind] > 1:
            return
        data = find.frames[-1]
        others = f" after {len(find.frames) - 1} others" if len(find.frames) > 1 else ""
        print(
            f"FIND {name}: {find.what}, with {len(data)} bytes{others}: {data[:40].hex()}\n"
            f"  fuzz.py {command} {name}",
            flush=True,
        )
        if self._corpus is not None:
            self._corpus.mkdir(parents=True, exist_ok=True)
            number = len(list(self._corpus.iterdir()))
            (self._corpus / f"{name}-{number:03d}.bin").write_bytes(data)

    def report(self, seed: int, seconds: float) -> str:
        fed = " ".join(f"{name}={count}" for name, count in sorted(self.fed.items()))
        slowest = " ".join(f"{name}={value * 1e3:.0f}ms" for name, value in sorted(self.slowest.items()))
        counts = " ".join(
            f"{name}_{word}={count}"
            for name, outcomes in sorted(self.outcomes.items())
            for word, count in sorted(outcomes.counts.items())
        )
        ends = f"slowest {slowest}; finds={len(self.finds)}"
        kinds = " ".join(
            f"{name}={_kinds(outcomes)}" for name, outcomes in sorted(self.outcomes.items()) if outcomes.kinds
        )
        cpu = f"{time.process_time():.0f} of the processor"
        return f"fuzz: seed={seed} {seconds:.0f} s, {cpu}, fed {fed}; {counts}; kinds {kinds}; {ends}"


def measured(target: Target, block: list[bytes], outcomes: Outcomes) -> tuple[float, int]:
    """Seconds of the processor, and KiB by which the largest resident size has grown. Raises FindError."""
    PEAK.write_text("5")
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.thread_time()
    try:
        target.feed(block, outcomes)
    except Exception as error:
        raise FindError(_kind(error), block) from error
    seconds = time.thread_time() - began
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib


def allocated_kib(target: Target, block: list[bytes]) -> int:
    """The most that Python had allocated at a time while this was fed."""
    tracemalloc.start()
    try:
        target.feed(block, Outcomes())
        return tracemalloc.get_traced_memory()[1] >> 10
    finally:
        tracemalloc.stop()


def narrowed(name: str, seed: int, find: FindError) -> FindError:
    """The frame that has the same effect on a new target alone; `find` itself if none of its frames has."""
    if len(find.frames) == 1:
        return find
    make, ceiling, _ = TARGETS[name]
    target = make(random.Random(f"{name} {seed}"))
    next(target.blocks(), None)
    try:
        for data in find.frames:
            Fuzz(None).feed(name, target, ceiling, [data])
    except FindError as alone:
        return alone
    finally:
        target.close()
    return find


def _kinds(outcomes: Outcomes) -> str:
    """How many APIs and versions were decoded or answered, of how many there are, and the fewest of one."""
    counts = [outcomes.kinds[struct.pack(">hh", *kind)] for kind in KINDS]
    return f"{len(counts) - counts.count(0)}/{len(counts)},fewest={min(counts)}"


def _kind(error: Exception) -> str:
    """The exception, and the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "?"
    return f"{type(error).__name__} in {place}: {str(error)[:120]}"


def replayed(corpus: Path, name: str) -> Iterator[tuple[Path, str]]:
    """The files of the corpus for this target, and what is wrong with each; nothing if it is sound."""
    make, ceiling, _ = TARGETS[name]
    for file in sorted(corpus.glob(f"{name}-*.bin")):
        target = make(random.Random(0))
        next(target.blocks(), None)
        found = ""
        try:
            Fuzz(None).feed(name, target, ceiling, [file.read_bytes()])
        except FindError as find:
            found = find.what
        finally:
            target.close()
        yield file, found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--minutes", type=float, help="1, if --frames is not given")
    parser.add_argument("--frames", type=int, default=1 << 62, help="of each target")
    parser.add_argument("--corpus", type=Path, help="where the bytes of finds are written")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    if set(names) - set(TARGETS):
        parser.error(f"targets are {', '.join(TARGETS)}")
    quiet()
    compiled = "compiled" if COMPILED else "sources"
    print(f"fuzz: seed={options.seed}, {compiled}: {', '.join(names)}", flush=True)
    fuzz = Fuzz(options.corpus)
    began = shown = time.monotonic()
    minutes = options.minutes or (1.0 if options.frames == 1 << 62 else math.inf)
    deadline = began + minutes * 60
    seed = options.seed
    while left := [name for name in names if fuzz.fed[name] < options.frames]:
        for name in left:
            fuzz.slice(name, seed, deadline, min(TARGETS[name][2], options.frames - fuzz.fed[name]))
            if time.monotonic() - shown >= PROGRESS_SECONDS:
                shown = time.monotonic()
                print(fuzz.report(options.seed, shown - began), flush=True)
        seed += 1
        if time.monotonic() >= deadline or len(fuzz.finds) >= FINDS_MAX:
            break
    print(fuzz.report(options.seed, time.monotonic() - began))
    return 1 if fuzz.finds else 0


def quiet() -> None:
    """What is refused is not logged: that would take longer than to refuse it."""
    logger = logging.getLogger("kraftctl")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    logger.setLevel(logging.ERROR)


if __name__ == "__main__":
    sys.exit(main())
