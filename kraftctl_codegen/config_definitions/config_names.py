"""Reads the names of configuration keys in several releases: the newest has removed some."""

from __future__ import annotations

import subprocess
from pathlib import Path

import kraftctl_protocol
from kraftctl.dev.kafka_distribution import KafkaDistribution, resolve_kafka
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION
from kraftctl_codegen.config_definitions.render import HEADER

PROGRAM = Path(__file__).parent / "DumpConfigNames.java"
OTHER_RELEASES = (
    Path(__file__).parents[2] / "kraftctl/metadata/config_definitions/generated/other_releases.py"
)
CLIENT_NAMES = Path(kraftctl_protocol.__path__[0]) / "client_config_names.py"

OLDER = ("3.9.2", "4.1.2", "4.3.1")

Names = dict[str, set[str]]
"""The names by kind: `broker`, `admin`, and `client` for consumers and producers."""


def render_name_files() -> dict[Path, str]:
    """Returns every generated file and its text; fetches the releases that are not there yet."""
    present = dump_names(resolve_kafka(KAFKA_VERSION))
    older = {version: dump_names(resolve_kafka(version)) for version in OLDER}
    removed: dict[str, str] = {}
    for version, names in older.items():
        removed |= dict.fromkeys(names["broker"] - present["broker"], version.rpartition(".")[0])
    new = dict.fromkeys(present["broker"] - older[OLDER[-1]]["broker"], KAFKA_VERSION.rpartition(".")[0])
    releases = [present, *older.values()]
    admins, clients = (set().union(*(names[kind] for names in releases)) for kind in ("admin", "client"))
    return {OTHER_RELEASES: _other_releases(removed, new), CLIENT_NAMES: _client_names(admins, clients)}


def dump_names(kafka: KafkaDistribution) -> Names:
    """Returns what the classes of one release define."""
    command = [kafka.java, "-Xmx256m", "-cp", kafka.classpath, str(PROGRAM)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    names: Names = {"broker": set(), "admin": set(), "client": set()}
    for line in done.stdout.splitlines():
        kind, _, name = line.partition("\t")
        names[kind].add(name)
    return names


def _other_releases(removed: dict[str, str], new: dict[str, str]) -> str:
    text = HEADER.format(
        title=f"Configuration keys of a node that one of Kafka {OLDER[-1]} and {KAFKA_VERSION} does not have."
    )
    text += _releases("REMOVED_CONFIGS", removed)
    text += '"""With the last release that has it, of those that were looked at."""\n\n'
    text += _releases("NEW_CONFIGS", new)
    return text + f'"""Kafka {OLDER[-1]} does not have it; with the first release that does."""\n'


def _releases(constant: str, found: dict[str, str]) -> str:
    rows = "".join(f"    {name!r}: {found[name]!r},\n" for name in sorted(found))
    return f"{constant}: dict[str, str] = {{\n{rows}}}\n"


def _client_names(admins: set[str], clients: set[str]) -> str:
    text = HEADER.format(title="Configuration keys of clients, of all releases since 3.9.")
    text += "ADMIN_CLIENT_CONFIGS: frozenset[str] = frozenset(\n" + _rows(admins)
    text += "\nOTHER_CLIENT_CONFIGS: frozenset[str] = frozenset(\n" + _rows(clients - admins)
    return text + '"""These belong to consumers and producers alone."""\n'


def _rows(names: set[str]) -> str:
    return "    (\n" + "".join(f"        {name!r},\n" for name in sorted(names)) + "    )\n)\n"
