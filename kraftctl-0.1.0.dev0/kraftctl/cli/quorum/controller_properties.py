"""Reads the properties of a controller that its place among the voters depends on.

It reads like kafka-metadata-quorum, not like `kraftctl start`: it may be the file of Kafka's own controller,
with roles, keys and security protocols that kraftctl does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kraftctl.cli.quorum.quorum_info import VoterEndpoint
from kraftctl.config.endpoints import parse_listener
from kraftctl.storage.log_directories import LogDirectories, log_directories, refuse_log_elsewhere
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.java_values import split_list
from kraftctl_protocol.log_file_names import META_PROPERTIES

HOST_WITHOUT_ADDRESS = "localhost"
"""Kafka's tool takes this for a listener without a host."""


@dataclass(frozen=True)
class ControllerProperties:
    """The properties. `log_dirs` are all directories to format, with that of the metadata log;
    `endpoints` are advertised.
    """

    node_id: int
    metadata_log_dir: Path
    log_dirs: list[Path]
    endpoints: list[VoterEndpoint]
    has_static_quorum: bool
    chosen_by: str
    """The key and value that choose `metadata_log_dir`."""

    def directory_id(self) -> bytes | None:
        """Returns the directory id of the metadata log; None if it is not formatted.

        Raises StorageError if it is unreadable, or if another directory has the log.
        """
        refuse_log_elsewhere(LogDirectories(self.metadata_log_dir, self.log_dirs, self.chosen_by))
        meta = read_meta_properties(self.metadata_log_dir)
        return None if meta is None else meta.directory_id

    def formatted_directory_id(self) -> bytes:
        """Returns the same; AdminError if there is none."""
        directory_id = self.directory_id()
        if directory_id is None:
            raise AdminError(
                f"{self.metadata_log_dir / META_PROPERTIES} has no directory.id. Next step: format the"
                " directory, or name the properties file of the controller to add."
            )
        return directory_id


def read_controller_properties(properties: Mapping[str, str]) -> ControllerProperties:
    """Reads the file; AdminError names the key which is missing or wrong."""
    metadata_log_dir, log_dirs = _directories(properties)
    directories = log_directories(properties, str(metadata_log_dir), [str(log_dir) for log_dir in log_dirs])
    return ControllerProperties(
        node_id=_node_id(properties),
        metadata_log_dir=metadata_log_dir,
        log_dirs=log_dirs,
        endpoints=_controller_endpoints(properties),
        has_static_quorum=bool(properties.get("controller.quorum.voters", "").strip()),
        chosen_by=directories.chosen_by,
    )


def _node_id(properties: Mapping[str, str]) -> int:
    text = properties.get("node.id", "").strip()
    if not text.isdecimal():
        raise _not_a_controller(f"node.id is '{text}', not a number of 0 or more")
    roles = split_list(properties.get("process.roles", ""))
    if "controller" not in roles:
        raise _not_a_controller(f"process.roles is {roles}, without 'controller'")
    return int(text)


def _directories(properties: Mapping[str, str]) -> tuple[Path, list[Path]]:
    log_dirs = split_list(properties.get("log.dirs", "")) or split_list(properties.get("log.dir", ""))
    metadata_log_dir = properties.get("metadata.log.dir", "").strip() or next(iter(log_dirs), "")
    if not metadata_log_dir:
        raise _not_a_controller("neither metadata.log.dir nor log.dirs is set")
    return Path(metadata_log_dir), [Path(name) for name in dict.fromkeys([*log_dirs, metadata_log_dir])]


def _controller_endpoints(properties: Mapping[str, str]) -> list[VoterEndpoint]:
    """Returns the address of each controller listener, in that order; advertised.listeners come before
    listeners.
    """
    known: dict[str, VoterEndpoint] = {}
    for key in ("listeners", "advertised.listeners"):
        for entry in split_list(properties.get(key, "")):
            listener = parse_listener(entry)
            if listener is None:
                raise AdminError(f"{key}: '{entry}' is not of the form NAME://host:port.")
            name, host, port = listener
            known[name] = VoterEndpoint(name, host or HOST_WITHOUT_ADDRESS, port)
    names = [name.upper() for name in split_list(properties.get("controller.listener.names", ""))]
    if not names:
        raise _not_a_controller("controller.listener.names is not set")
    for name in names:
        if name not in known:
            raise AdminError(f"{name} is neither in listeners nor in advertised.listeners.")
    return [known[name] for name in dict.fromkeys(names)]


def _not_a_controller(reason: str) -> AdminError:
    return AdminError(f"The --command-config file is not of a controller: {reason}.")
