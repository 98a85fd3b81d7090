"""Imports the facts of Kafka's message definitions from released jars into `schemas/`.

`python -m kraftctl_codegen.messages.import_schemas` resolves the jars with Maven, keeps names, types,
version ranges, tags, defaults and listeners, and drops prose and comments. The newest release decides;
versions that only the older release of `SOURCES` supports are added: the set is the union of both.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from kraftctl_codegen.messages.merge_schemas import merge_message

REPOSITORY = Path(__file__).resolve().parents[2]
NEWEST, OLDER = "4.4.0", "3.9.2"
ARTIFACTS = ("kafka-clients", "kafka-metadata", "kafka-raft")

ALWAYS = frozenset(
    [
        "RequestHeader",
        "ResponseHeader",
        "ApiVersions",
        "SaslHandshake",
        "SaslAuthenticate",
        "Envelope",
        "DefaultPrincipalData",
        "DescribeClientQuotas",
        "ListConfigResources",
        "LeaderAndIsr",
        "Metadata",
        "LeaderChangeMessage",
        "SnapshotHeaderRecord",
        "SnapshotFooterRecord",
        "KRaftVersionRecord",
        "VotersRecord",
        "QuorumStateData",
    ]
)
"""No listener or record type names these: headers, control records, files, and messages of clients."""

Schemas = dict[str, dict[str, Any]]


def jar_path(artifact: str, version: str) -> Path:
    """Returns the jar in the local Maven repository; downloaded by Maven when it is not there yet."""
    jar = Path.home() / f".m2/repository/org/apache/kafka/{artifact}/{version}/{artifact}-{version}.jar"
    if not jar.exists():
        coordinate = f"org.apache.kafka:{artifact}:{version}"
        subprocess.run(
            ["mvn", "-q", "dependency:get", f"-Dartifact={coordinate}", "-Dtransitive=false"], check=True
        )
    return jar


def read_release(version: str) -> dict[str, Schemas]:
    """Returns every schema of one release, by folder ("message", "metadata") and name."""
    folders: dict[str, Schemas] = {"message": {}, "metadata": {}}
    for artifact in ARTIFACTS:
        with zipfile.ZipFile(jar_path(artifact, version)) as jar:
            for entry in sorted(jar.namelist()):
                match = re.fullmatch(r"common/(message|metadata)/\w+\.json", entry)
                if match is not None:
                    schema = parse_commented_json(jar.read(entry).decode("utf-8"))
                    folders[match[1]][schema["name"]] = schema
    return folders


def parse_commented_json(text: str) -> dict[str, Any]:
    """Returns a schema as shipped: JSON with whole-line `//` comments."""
    facts = drop_prose(json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)))
    assert isinstance(facts, dict)
    return facts


def drop_prose(value: Any) -> Any:
    """Returns the same value without explanations; tags are ints and defaults strings throughout."""
    if isinstance(value, list):
        return [drop_prose(one) for one in value]
    if not isinstance(value, dict):
        return value
    facts = {key: drop_prose(one) for key, one in value.items() if key != "about"}
    if "tag" in facts:
        facts["tag"] = int(facts["tag"])
    if "default" in facts:
        default = facts["default"]
        facts["default"] = str(default).lower() if isinstance(default, bool) else str(default)
    return facts


def import_all() -> dict[str, str]:
    """Returns the text of every file in `schemas/` that this command owns, by relative path."""
    newest, older = read_release(NEWEST), read_release(OLDER)
    files: dict[str, str] = {}
    for folder in ("message", "metadata"):
        for name in sorted(newest[folder].keys() | older[folder].keys()):
            old, new = older[folder].get(name), newest[folder].get(name)
            if is_wanted(folder, name, [newest, older]):
                merged = merge_message(old, new)
                if merged is not None:
                    files[f"{folder}/{name}.json"] = format_schema(merged)
    files["api_keys.json"] = format_api_keys([older["message"], newest["message"]])
    files["SOURCE.toml"] = format_source()
    return files


def is_wanted(folder: str, name: str, releases: list[dict[str, Schemas]]) -> bool:
    """Returns whether a controller, or one of its clients, uses this message."""
    api = re.sub(r"(Request|Response)$", "", name)
    if folder == "metadata" or name in ALWAYS or api in ALWAYS:
        return True
    requests = [release["message"].get(f"{api}Request", {}) for release in releases]
    return any("controller" in request.get("listeners", ()) for request in requests)


def format_schema(schema: dict[str, Any]) -> str:
    """Returns a deterministic text: one line per field, children indented."""
    order = (
        "name type apiKey listeners validVersions deprecatedVersions flexibleVersions latestVersionUnstable"
    )
    lines = [f'  "{key}": {json.dumps(schema[key])}' for key in order.split() if key in schema]
    nested = [key for key in ("commonStructs", "fields") if key in schema]
    lines += [f'  "{key}": {_format_children(schema[key], 2)}' for key in nested]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _format_children(children: list[dict[str, Any]], indent: int) -> str:
    if not children:
        return "[]"
    pad = " " * (indent + 2)
    return (
        "[\n"
        + ",\n".join(pad + _format_field(one, indent + 2) for one in children)
        + "\n"
        + " " * indent
        + "]"
    )


def _format_field(field: dict[str, Any], indent: int) -> str:
    order = [
        "name",
        "type",
        "versions",
        "nullableVersions",
        "taggedVersions",
        "tag",
        "flexibleVersions",
        "default",
        "ignorable",
        "mapKey",
        "entityType",
        "zeroCopy",
    ]
    unknown = sorted(set(field) - set(order) - {"fields"})
    if unknown:
        raise ValueError(f"{field.get('name')}: unknown keys {unknown}")
    parts = [f'"{key}": {json.dumps(field[key])}' for key in order if key in field]
    if "fields" in field:
        parts.append(f'"fields": {_format_children(field["fields"], indent)}')
    return "{" + ", ".join(parts) + "}"


def format_api_keys(releases: list[Schemas]) -> str:
    """Returns names and numbers of every API that Kafka has, also of those we do not speak."""
    keys: dict[int, str] = {}
    for schemas in releases:
        for name, schema in schemas.items():
            if schema["type"] == "request" and "apiKey" in schema:
                keys[schema["apiKey"]] = name.removesuffix("Request")
    return json.dumps({keys[key]: key for key in sorted(keys)}, indent=2) + "\n"


def format_source() -> str:
    """Returns where the facts came from, exactly."""
    lines = [
        "# Written by `python -m kraftctl_codegen.messages.import_schemas`.",
        f'kafka_version = "{NEWEST}"',
    ]
    lines.append(f'older_versions_from = "{OLDER}"')
    for version in (NEWEST, OLDER):
        for artifact in ARTIFACTS:
            digest = hashlib.sha256(jar_path(artifact, version).read_bytes()).hexdigest()
            lines += [
                "",
                "[[jar]]",
                f'coordinate = "org.apache.kafka:{artifact}:{version}"',
                f'sha256 = "{digest}"',
            ]
    return "\n".join(lines) + "\n"


def main() -> int:
    root = REPOSITORY / "schemas"
    files = import_all()
    for stale in sorted([*root.glob("message/*.json"), *root.glob("metadata/*.json")]):
        if str(stale.relative_to(root)) not in files:
            stale.unlink()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{len(files)} files written to {root}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
