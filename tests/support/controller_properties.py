"""The properties that every controller needs: those of one that is alone in its quorum."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

NODE_ID = 3000


def controller_properties(
    log_dirs: object = "data",
    *,
    node_id: int = NODE_ID,
    address: str = "localhost:9093",
    static: bool = False,
    more: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Returns a minimal configuration that is valid. `static`: the voters are configured."""
    quorum = "controller.quorum.voters" if static else "controller.quorum.bootstrap.servers"
    return {
        "process.roles": "controller",
        "node.id": str(node_id),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"CONTROLLER://{address}",
        quorum: f"{node_id}@{address}" if static else address,
        "log.dirs": str(log_dirs),
        **(more or {}),
    }


def properties_file(directory: Path, properties: Mapping[str, str]) -> Path:
    """Returns the path of a new `controller.properties`."""
    file = directory / "controller.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    return file
