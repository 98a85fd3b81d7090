"""LyingDisk: the directory of one process that runs under the shim; a kill or a power failure ends it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftctl.dev.polling import await_result
from tests.support.file_states import Aftermath
from tests.support.lying_disk.disk_model import DiskModel, Tree
from tests.support.lying_disk.journal import Kind, Record, read_records

SOURCE = Path(__file__).with_name("lying_disk.c")

CALLS = ("open", "write", "truncate", "fsync", "rename", "unlink", "link", "mkdir")
ANY = "any"

LAST_CALLS_MAX = 4
"""How many files a killed process may have changed without a record: the last call of each of its threads."""

STALL_SECONDS_MAX = 20.0


def build_shim(directory: Path) -> Path:
    return compile_shim(SOURCE, directory)


def compile_shim(source: Path, directory: Path) -> Path:
    """Compiles a library to preload into `directory`, with the compiler $CC, or the one of this Python."""
    library = directory / f"{source.stem}.so"
    compiler = os.environ.get("CC") or (sysconfig.get_config_var("CC") or "cc").split()[0]
    compiler = compiler if shutil.which(compiler) else "cc"
    assert shutil.which(compiler), "no C compiler, which `make build` needs as well: install cc, or set CC"
    # Some systems harden by default: calls then have other names, or bodies in the headers.
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-U_FORTIFY_SOURCE", "-U_FILE_OFFSET_BITS"]
    subprocess.run([compiler, *flags, "-o", str(library), str(source), "-ldl", "-lpthread"], check=True)
    return library


class LyingDisk:
    """The disk of one directory, whose first content is forced already. One process at a time may use it.

    The process gets `environment`. After it was killed, call `fail_power` or `settle` before the next one.
    """

    def __init__(self, shim: Path, root: Path) -> None:
        self.root = root.resolve()
        self._journal = self.root.with_name(f"{self.root.name}.journal")
        self._control = self.root.with_name(f"{self.root.name}.control")
        self.environment = {
            "LD_PRELOAD": str(shim),
            "LYING_DISK_ROOT": str(self.root),
            "LYING_DISK_JOURNAL": str(self._journal),
            "LYING_DISK_CONTROL": str(self._control),
        }
        self.adopt()

    def adopt(self) -> None:
        """Takes the directory as it is, all of it forced: at first, or when no process has changed it."""
        self._journal.write_bytes(b"")
        self._read_bytes = 0
        self._unplayed: list[Record] = []
        self.model = DiskModel.adopt(self.root)

    def rule(self, *rules: str) -> None:
        """Rules for calls from now on, as in lying_disk.c; none for ordinary calls."""
        if not rules:
            self._control.unlink(missing_ok=True)
            return
        prepared = self._control.with_suffix(".new")
        prepared.write_text("\n".join(rules) + "\n")
        prepared.replace(self._control)

    @contextmanager
    def stalled(self, call: str, stall_ms: int, part: str = "") -> Iterator[Record]:
        """While in the context, at least one such call is slow by `stall_ms`, or blocked until the end.

        Waits until something makes the call.
        """
        before = len(self.stalls())
        self.rule(*stall_rules(call, stall_ms, part))
        try:
            yield self.await_stall(call, before)
        finally:
            self.rule()

    def await_stall(self, call: str, before: int = 0) -> Record:
        """Waits until such a call is blocked by a rule; the first `before` stalls do not count."""
        return await_result(
            lambda: next((one for one in self.stalls()[before:] if call in (one.other, ANY)), None),
            f"something calls {call} in {self.root}",
            STALL_SECONDS_MAX,
            0.005,
        )

    def stalls(self) -> list[Record]:
        """All records since the last power failure."""
        found = read_records(self._journal.read_bytes())
        return [record for record in found if record.kind is Kind.STALLED]

    def play(self, until_ns: int | None = None) -> None:
        """Brings the model up to what is recorded, or up to a time.monotonic_ns()."""
        with open(self._journal, "rb") as journal:
            journal.seek(self._read_bytes)
            fresh = list(read_records(journal.read()))
        self._read_bytes += sum(record.size_bytes for record in fresh)
        self._unplayed += fresh
        at = 0
        for record in self._unplayed:
            if until_ns is not None and record.time_ns > until_ns:
                break
            self.model.play(record)
            at += 1
        del self._unplayed[:at]

    def settle(self) -> None:
        """After a kill of the process alone: everything written is kept, forced or not.

        Fails when the shim has not noticed what the process did.
        """
        self.play()
        os.truncate(self._journal, self._read_bytes)
        there, known = read_tree(self.root), self.model.written()
        different = [
            path for path in sorted(there.keys() | known.keys()) if there.get(path) != known.get(path)
        ]
        assert len(different) <= LAST_CALLS_MAX, f"the shim has missed what happened to {different}"
        for path in different:
            self.model.learn(path)

    def fail_power(self, aftermath: Aftermath, rng: random.Random) -> None:
        """After the process was killed: reduces the directory to what survives, which is then forced."""
        self.settle()
        surviving = self.model.surviving(aftermath, rng)
        for path in self.root.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, content in surviving.items():
            if content is None:
                (self.root / name).mkdir()
            else:
                (self.root / name).write_bytes(content)
        self.adopt()


def stall_rules(call: str, stall_ms: int, part: str = "") -> list[str]:
    """For one kind of call, or ANY."""
    return [f"{one} stall {stall_ms} {part}".rstrip() for one in (CALLS if call == ANY else [call])]


def read_tree(root: Path) -> Tree:
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes()
        for path in sorted(root.rglob("*"))
    }
