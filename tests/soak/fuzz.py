"""`make fuzz`: frames, batches and directories that no program writes, with limits of time and memory.

`fuzz.py --seed 7 --minutes 5` feeds all targets in turn; names select some. What must not happen is a find:
an exception that the target does not document, more processor time or more memory than a frame of that length
may take. It is printed immediately, and its bytes are written to `--corpus`.

| target | is fed |
|---|---|
| requests | every API and version, decoded as a connection does |
| handlers | the same, and requests that are valid for it, to a whole controller |
| batches | record batches with a valid checksum around any records |
| directories | the files of a controller, one of them damaged, to a controller that starts |
"""

from __future__ import annotations

import argparse
import logging
import random
import re
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl_protocol import primitives
from tests.support.wire.fuzzed_files import FuzzedBatches, FuzzedDirectories
from tests.support.wire.fuzzed_requests import DecodedRequests, HandledRequests

MIB = 1 << 20

PROGRESS_SECONDS = 30.0
SLICE_SECONDS = 5.0
"""How long one target is fed before the next; each slice has a seed of its own."""

FINDS_MAX = 20
"""Different ones; then the rest of the time is not spent."""

COMPILED = not str(primitives.__file__).endswith(".py")
SLOWNESS = 1 if COMPILED else 10
"""Of the sources; limits of time are those of compiled code."""

LARGE_BYTES = 100_000
PEAK = Path("/proc/self/clear_refs")
"""Resets the largest resident size: before large frames only, since that takes a millisecond."""

NUMBER = re.compile(r"\d+")


class Target(Protocol):
    """What is fed: `feed` returns a word for the outcome, and raises nothing that it documents."""

    def family(self) -> Iterator[bytes]: ...

    def feed(self, data: bytes) -> str: ...

    def close(self) -> None: ...


class FindError(Exception):
    """What was found, and with which bytes."""

    def __init__(self, what: str, data: bytes) -> None:
        super().__init__(what)
        self.what = what
        self.data = data


class Ceiling:
    """What one frame may take: processor time of this thread, and growth of the largest resident size."""

    def __init__(self, milliseconds: float, microseconds_per_byte: float, memory_mib: int) -> None:
        self._seconds = milliseconds / 1e3 * SLOWNESS
        self._seconds_per_byte = microseconds_per_byte / 1e6 * SLOWNESS
        self._memory_kib = memory_mib * 1024

    def passed(self, data: bytes, seconds: float, grown_kib: int) -> str:
        """What was passed, or nothing."""
        if seconds > self._seconds + len(data) * self._seconds_per_byte:
            return f"took {seconds * 1e3:.0f} ms of the processor"
        if grown_kib > self._memory_kib:
            return f"took {grown_kib / 1024:.0f} MiB"
        return ""


TARGETS: dict[str, tuple[Callable[[random.Random], Target], Ceiling]] = {
    "requests": (DecodedRequests, Ceiling(50, 0.5, 144)),
    "handlers": (HandledRequests, Ceiling(500, 2.0, 256)),
    "batches": (FuzzedBatches, Ceiling(50, 0.5, 64)),
    "directories": (FuzzedDirectories, Ceiling(2000, 0.5, 256)),
}
"""Times are several times those of an idle machine. In a handler of random requests, 10,000 records are
written for some; a directory is replayed."""


class Fuzz:
    """The totals of all targets."""

    def __init__(self, corpus: Path | None) -> None:
        self.fed: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.finds: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self._corpus = corpus

    def slice(self, name: str, seed: int, until: float, frames_max: int) -> None:
        """Feeds one target, new with this seed, until then."""
        make, ceiling = TARGETS[name]
        target = make(random.Random(f"{name} {seed}"))
        left = frames_max
        try:
            while left > 0 and time.monotonic() < until:
                for data in target.family():
                    left -= 1
                    self.feed(name, target, ceiling, data)
        except FindError as find:
            self.found(name, find, f"--seed {seed} {name}")
        finally:
            target.close()

    def feed(self, name: str, target: Target, ceiling: Ceiling, data: bytes) -> None:
        """Raises FindError; the target is of no further use then."""
        self.fed[name] += 1
        if len(data) > LARGE_BYTES:
            PEAK.write_text("5")
        before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.thread_time()
        try:
            outcome = target.feed(data)
        except Exception as error:
            raise FindError(_kind(error), data) from error
        seconds = time.thread_time() - began
        grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib
        self.outcomes[f"{name}_{outcome}"] += 1
        self.slowest[name] = max(self.slowest.get(name, 0.0), seconds)
        passed = ceiling.passed(data, seconds, grown_kib)
        if passed:
            raise FindError(passed, data)

    def found(self, name: str, find: FindError, command: str) -> None:
        """Counts it; the first of its kind is printed and kept."""
        kind = f"{name}: {NUMBER.sub('N', find.what)}"
        self.finds[kind] += 1
        if self.finds[kind] > 1:
            return
        size = len(find.data)
        print(
            f"FIND {name}: {find.what}, with {size} bytes: {find.data[:40].hex()}\n  fuzz.py {command}",
            flush=True,
        )
        if self._corpus is not None:
            self._corpus.mkdir(parents=True, exist_ok=True)
            number = len(list(self._corpus.iterdir()))
            (self._corpus / f"{name}-{number:03d}.bin").write_bytes(find.data)

    def report(self, seed: int, seconds: float) -> str:
        fed = " ".join(f"{name}={count}" for name, count in sorted(self.fed.items()))
        slowest = " ".join(f"{name}={value * 1e3:.0f}ms" for name, value in sorted(self.slowest.items()))
        outcomes = " ".join(f"{name}={count}" for name, count in sorted(self.outcomes.items()))
        finds = f"finds={len(self.finds)}"
        return f"fuzz: seed={seed} {seconds:.0f} s, fed {fed}; {outcomes}; slowest {slowest}; {finds}"


def _kind(error: Exception) -> str:
    """The exception, and the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "?"
    return f"{type(error).__name__} in {place}: {str(error)[:120]}"


def replayed(corpus: Path, name: str) -> Iterator[tuple[Path, str]]:
    """The files of the corpus for this target, and what is wrong with each; nothing if it is sound."""
    make, ceiling = TARGETS[name]
    for file in sorted(corpus.glob(f"{name}-*.bin")):
        target = make(random.Random(0))
        next(target.family(), None)
        found = ""
        try:
            Fuzz(None).feed(name, target, ceiling, file.read_bytes())
        except FindError as find:
            found = find.what
        finally:
            target.close()
        yield file, found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--frames", type=int, default=1 << 62, help="of each slice, to repeat one exactly")
    parser.add_argument("--corpus", type=Path, help="where the bytes of finds are written")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    options = parser.parse_args()
    names = options.targets or list(TARGETS)
    if set(names) - set(TARGETS):
        parser.error(f"targets are {', '.join(TARGETS)}")
    logging.getLogger("kraftctl").addHandler(logging.NullHandler())
    logging.getLogger("kraftctl").propagate = False
    compiled = "compiled" if COMPILED else "sources"
    print(f"fuzz: seed={options.seed}, {compiled}: {', '.join(names)}", flush=True)
    fuzz = Fuzz(options.corpus)
    began = shown = time.monotonic()
    deadline = began + options.minutes * 60
    seed = options.seed
    while time.monotonic() < deadline and len(fuzz.finds) < FINDS_MAX:
        for name in names:
            now = time.monotonic()
            if now < deadline:
                fuzz.slice(name, seed, min(deadline, now + SLICE_SECONDS), options.frames)
        seed += 1
        if time.monotonic() - shown >= PROGRESS_SECONDS:
            shown = time.monotonic()
            print(fuzz.report(options.seed, shown - began), flush=True)
    print(fuzz.report(options.seed, time.monotonic() - began))
    return 1 if fuzz.finds else 0


if __name__ == "__main__":
    sys.exit(main())
