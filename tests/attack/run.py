"""`make attack`: attacks a compiled controller with hand-made bytes, and measures what its brokers see.

Each attack meets a new process, first without an authorizer, then with one that admits only the addresses of
the brokers. A line per attack as it ends, a table of all at the end; status 1 if a limit was passed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.dev.polling import await_result
from tests.attack.attacked_controller import MEMORY_PAUSE_S, AttackedController, Template
from tests.attack.attacks import ATTACKS, FULL, QUICK, Attack, Scale, Target
from tests.attack.honest_brokers import Seen

HEARTBEAT_MS_MAX = 100.0
MEMORY_MB_MAX = 512.0
RECOVERY_SECONDS_MAX = 90.0

DIRECTORIES = Path("/dev/shm")
"""The speed of a disk is not what is measured."""


@dataclass(frozen=True)
class Measured:
    """One attack on one process."""

    attack: str
    authorizer: bool
    heartbeat_ms: float
    memory_mb: float
    large_served: int
    large_lost: int
    large_refused: int
    large_ms: float
    refused_heartbeats: int
    lost_connections: int
    leadership_taken: bool
    ended: bool
    note: str

    @property
    def large_is_served(self) -> bool:
        refused = self.large_refused and not self.leadership_taken
        return self.large_served > 0 and not self.large_lost and not refused

    def failures(self, heartbeat_ms_max: float) -> list[str]:
        """The limits that were passed."""
        found = []
        if self.ended:
            found.append("the process has ended")
        if self.heartbeat_ms > heartbeat_ms_max:
            found.append(f"a heartbeat took {self.heartbeat_ms:.0f} ms")
        if self.memory_mb > MEMORY_MB_MAX:
            found.append(f"{self.memory_mb:.0f} MB")
        if not self.large_is_served:
            unserved = f"{self.large_refused} refused, {self.large_lost} lost"
            found.append(f"1 MB requests: {self.large_served} served, {unserved}")
        if self.lost_connections:
            found.append(f"brokers lost {self.lost_connections} connections")
        return found

    def summary(self) -> str:
        """The cell of the table."""
        if self.ended:
            return "**the process ends**"
        served = f"1 MB in {self.large_ms:,.0f} ms" if self.large_is_served else "**1 MB lost**"
        return f"{self.heartbeat_ms:,.0f} ms, {self.memory_mb:,.0f} MB, {served}"


def measure(attack: Attack, template: Template, scale: Scale, directory: Path) -> Measured:
    settings = attack.settings
    with AttackedController(template, directory, settings, files_max=attack.files_max) as controller:
        controller.begin()
        target = Target(controller, scale)
        try:
            note = attack.run(target)
            total, ended = _served_again(controller)
        finally:
            for client in target.opened:
                client.close()
        ended = ended or not controller.alive
        threading.Event().wait(2 * MEMORY_PAUSE_S)
        memory_mb = controller.memory_max_mb
    return Measured(
        attack=attack.name,
        authorizer=template.authorizer,
        heartbeat_ms=total.slowest_heartbeat_ms,
        memory_mb=memory_mb,
        large_served=total.large_served,
        large_lost=total.large_lost,
        large_refused=total.large_refused,
        large_ms=total.slowest_large_ms,
        leadership_taken=attack.takes_the_leadership and not template.authorizer,
        refused_heartbeats=total.refused_heartbeats,
        lost_connections=total.lost_connections,
        ended=ended,
        note=note,
    )


def _served_again(controller: AttackedController) -> tuple[Seen, bool]:
    """What the brokers saw until they and a large request were served; whether the process ended."""
    total = Seen()

    def served() -> bool:
        if not controller.alive:
            return True
        seen = controller.seen()
        total.heartbeats += seen.heartbeats
        total.refused_heartbeats += seen.refused_heartbeats
        total.lost_connections += seen.lost_connections
        total.large_served += seen.large_served
        total.large_lost += seen.large_lost
        total.large_refused += seen.large_refused
        total.slowest_heartbeat_ms = max(total.slowest_heartbeat_ms, seen.slowest_heartbeat_ms)
        total.slowest_large_ms = max(total.slowest_large_ms, seen.slowest_large_ms)
        return seen.heartbeats > 0 and total.large_served > 0

    try:
        await_result(served, "the brokers are served again", RECOVERY_SECONDS_MAX, 0.5)
    except TimeoutError:
        return total, not controller.alive
    return total, not controller.alive


def table(after: list[Measured], before: list[Measured]) -> str:
    """Markdown: slowest heartbeat, largest memory and the slowest 1 MB request, per attack."""
    lines = ["| attack | authorizer | before | after |", "|---|---|---|---|"]
    earlier = {(one.attack, one.authorizer): one for one in before}
    later = {(one.attack, one.authorizer): one for one in after}
    for attack in ATTACKS:
        for authorizer in (False, True):
            key = attack.name, authorizer
            cells = [results[key].summary() if key in results else "" for results in (earlier, later)]
            if any(cells):
                lines.append(f"| {attack.name} | {'on' if authorizer else 'off'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def read(file: Path | None) -> list[Measured]:
    return [Measured(**one) for one in json.loads(file.read_text())] if file else []


def chosen(names: list[str]) -> list[Attack]:
    found = [attack for attack in ATTACKS if not names or any(name in attack.name for name in names)]
    if not found:
        raise SystemExit(f"no attack's name contains {' or '.join(names)}")
    return found


def carry_out(options: argparse.Namespace) -> list[Measured]:
    scale = QUICK if options.quick else FULL
    results = []
    place = DIRECTORIES if DIRECTORIES.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="attack-", dir=place) as name:
        for authorizer in {"off": [False], "on": [True]}.get(options.authorizer, [False, True]):
            directory = Path(name) / f"template-{authorizer}"
            template = Template(directory, authorizer=authorizer, over_ssl=options.ssl)
            template.make()
            for attack in chosen(options.only):
                if attack.with_authorizer_only > authorizer or attack.over_ssl_only > options.ssl:
                    continue
                began = time.monotonic()
                directory = Path(name) / "attacked"
                result = measure(attack, template, scale, directory)
                results.append(result)
                if options.json:
                    options.json.write_text(json.dumps([asdict(one) for one in results], indent=1))
                failures = result.failures(options.heartbeat_ms)
                verdict = f"FAILED: {'; '.join(failures)}" if failures else "withstood"
                print(
                    f"{'on ' if authorizer else 'off'} {attack.name}: {result.summary()} "
                    f"({result.note}; {time.monotonic() - began:.0f} s): {verdict}",
                    flush=True,
                )
                if options.keep and failures:
                    kept = options.keep / f"{attack.name}-{authorizer}.log"
                    shutil.copy(directory / "controller.out", kept)
                shutil.rmtree(directory)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n\n")[0],
        epilog="\n".join(f"  {attack.name:32}{attack.what}" for attack in ATTACKS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="attacks whose name contains it"
    )
    parser.add_argument("--list", action="store_true", help="the names, and nothing else")
    parser.add_argument("--ssl", action="store_true", help="over SSL, by clients without a certificate")
    parser.add_argument("--quick", action="store_true", help="smaller, a few seconds each")
    parser.add_argument("--authorizer", choices=("off", "on", "both"), default="both")
    parser.add_argument(
        "--heartbeat-ms", type=float, default=HEARTBEAT_MS_MAX, help="the limit [%(default)g]"
    )
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--before", type=Path, help="results of an earlier run, for the table")
    parser.add_argument(
        "--keep", type=Path, help="a directory for the logs of attacks that are not withstood"
    )
    parser.add_argument("--table", type=Path, help="only the table, of these results")
    options = parser.parse_args()
    if options.list:
        for attack in ATTACKS:
            print(f"{attack.name:32}{attack.what}")
        return 0
    if options.table:
        print(table(read(options.table), read(options.before)))
        return 0
    results = carry_out(options)
    print(table(results, read(options.before)))
    failed = [one for one in results if one.failures(options.heartbeat_ms)]
    print(f"attack: {len(results)} attacks, {len(failed)} not withstood")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
