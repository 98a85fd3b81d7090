"""Trino as a process that answers SQL files, with catalogs that a test gives it.

It needs a JDK 25: JAVA_25_HOME, or one that is installed where Linux distributions put them. Maven fetches
Trino.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.spark.history.asked import Row
from tests.support.maven_classpath import maven_classpath

HERE = Path(__file__).parent
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SEPARATOR = ";\n-- then\n"
"""Between the statements of a file."""

Catalogs = Mapping[str, Mapping[str, str]]
"""Their plugins and properties, by their names."""


def java_25() -> Path:
    """The `java` of a JDK 25, which Trino demands."""
    homes = [Path(os.environ.get("JAVA_25_HOME", "")), *sorted(Path("/usr/lib/jvm").glob("*25*"))]
    found = next((home / "bin" / "java" for home in homes if (home / "bin" / "javac").exists()), None)
    assert found is not None, "Trino needs a JDK 25. Next step: install one, and set JAVA_25_HOME"
    return found


def hive(scratch: Path) -> dict[str, str]:
    """The properties of a Hive catalog of local files, whose metastore is a directory."""
    return {
        "plugin": "io.trino.plugin.hive.HivePlugin",
        "connector.name": "hive",
        "hive.metastore": "file",
        "hive.metastore.catalog.dir": f"local://{scratch}/metastore",
        "fs.local.enabled": "true",
        "local.location": "/",
        "hive.non-managed-table-writes-enabled": "true",
        "hive.parquet.time-zone": "UTC",
        "hive.timestamp-precision": "MICROSECONDS",
    }


def ask(files: Mapping[str, str], catalogs: Catalogs, scratch: Path) -> dict[str, list[Row]]:
    """The rows that each file returns at last; they run in the order of their names."""
    properties, sql, answers = (scratch / name for name in ("trino-catalogs", "trino-sql", "answers"))
    for directory in (properties, sql, answers):
        directory.mkdir()
    for name, catalog in catalogs.items():
        (properties / name).write_text(json.dumps(catalog))
    for name, text in files.items():
        (sql / name).write_text(text.strip().removesuffix(";"))
    jars = maven_classpath(HERE / "pom.xml")
    command = [
        *(str(java_25()), "-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        *("--add-modules", "jdk.incubator.vector", "-cp", jars, str(HERE / "AskTrino.java")),
        *map(str, (properties, sql, answers)),
    ]
    log = scratch / "trino.log"
    with log.open("w") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=1100, check=False)
    assert done.returncode == 0, log.read_text()[-8000:]
    return {
        name: json.loads((answers / f"{name}.json").read_text(), object_hook=_with_time) for name in files
    }


def _with_time(fields: dict[str, Any]) -> Any:
    return EPOCH + timedelta(microseconds=fields["time_us"]) if set(fields) == {"time_us"} else fields


def values_of(value: Any) -> Any:
    """Trino returns a struct as its values, and bytes here as hexadecimal digits."""
    if isinstance(value, dict):
        return [values_of(each) for each in value.values()]
    if isinstance(value, bytes):
        return value.hex()
    return [values_of(each) for each in value] if isinstance(value, list) else value
