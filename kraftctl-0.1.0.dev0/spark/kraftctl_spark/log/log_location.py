"""Location of a metadata log, on controllers or in a directory: a plain value that every process can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from kraftctl_observer.directory_reader import DirectoryReader
from kraftctl_observer.log_reader import LogReader, ObserverError
from kraftctl_observer.observer import QuorumObserver
from kraftctl_security.blocking_connection import Endpoint, endpoint_text
from kraftctl_spark.log.client_config import (
    ObserverConfig,
    parse_client_options,
    parse_timeout_ms,
    read_command_config,
)
from kraftctl_spark.log.local_path import local_path

CLIENT_PREFIX = "kafka."
SOFTWARE = "kraftctl-spark", "1"
"""The name and version that brokers and controllers see (KIP-511)."""


@dataclass(frozen=True)
class QuorumLocation:
    """Some controllers of the quorum; the leader is found through them."""

    bootstrap: tuple[Endpoint, ...]
    client: ObserverConfig = field(default_factory=ObserverConfig)

    def open(self, cluster_id: str | None) -> LogReader:
        """Opens the log. `cluster_id` is the expected cluster; None accepts any.

        The client's file is read again for each connection: keys and certificates may be replaced meanwhile.
        Raises ObserverError if that fails the first time.
        """
        try:
            self.client.read_security()
        except ValueError as error:
            raise ObserverError(f"the client's properties file cannot be used: {error}") from error
        return QuorumObserver(
            list(self.bootstrap),
            cluster_id=cluster_id,
            client_id=self.client.client_id,
            software=SOFTWARE,
            timeout_s=self.client.timeout_s,
            read_security=self.client.read_security,
        )

    def options(self) -> dict[str, str]:
        """Returns options for `format("kraft")`; Spark shows them."""
        options = {
            "bootstrapControllers": ",".join(endpoint_text(endpoint) for endpoint in self.bootstrap),
            "kafka.client.id": self.client.client_id,
            "requestTimeoutMs": str(self.client.request_timeout_ms),
        }
        if self.client.command_config is not None:
            options["commandConfig"] = str(self.client.command_config)
        return options

    def __str__(self) -> str:
        return "the controllers " + ",".join(endpoint_text(endpoint) for endpoint in self.bootstrap)


@dataclass(frozen=True)
class DirectoryLocation:
    """The directory of a controller or broker, the same for every process that reads."""

    directory: Path
    assume_committed: bool = False

    def open(self, cluster_id: str | None) -> LogReader:
        """Opens the log of the directory, like that of a quorum."""
        return DirectoryReader(self.directory, cluster_id, assume_committed=self.assume_committed)

    def options(self) -> dict[str, str]:
        """Returns options for `format("kraft")`."""
        return {"directory": str(self.directory), "assumeCommitted": str(self.assume_committed).lower()}

    def __str__(self) -> str:
        return f"the files in {self.directory}"


LogLocation = QuorumLocation | DirectoryLocation

LOCATION_OPTIONS = (
    "bootstrapControllers",
    "directory",
    "assumeCommitted",
    "commandConfig",
    "requestTimeoutMs",
)


def parse_location(given: Mapping[str, str]) -> LogLocation:
    """Parses options with keys in lower case; ValueError that names the option."""
    bootstrap, directory = given.get("bootstrapcontrollers"), given.get("directory")
    if bool(bootstrap) == bool(directory):
        raise ValueError(
            "exactly one of the options bootstrapControllers (host:port, separated by commas) and "
            f"directory (a controller's log.dirs) is needed, not {'both' if bootstrap else 'neither'}"
        )
    client = _parse_client(given)
    assume_committed = parse_boolean("option assumeCommitted", given.get("assumecommitted"))
    if directory:
        try:
            return DirectoryLocation(local_path(directory).absolute(), assume_committed)
        except ValueError as error:
            raise ValueError(f"option directory: {error}") from error
    assert bootstrap is not None
    if assume_committed:
        raise ValueError("option assumeCommitted=true is for a directory: controllers say what is committed")
    try:
        return QuorumLocation(parse_endpoints(bootstrap), client)
    except ValueError as error:
        raise ValueError(f"option bootstrapControllers: {error}") from error


def _parse_client(given: Mapping[str, str]) -> ObserverConfig:
    default = ObserverConfig()
    if file := given.get("commandconfig"):
        try:
            default = read_command_config(Path(file))
        except ValueError as error:
            raise ValueError(f"option commandConfig: {error}") from error
    keys = {key: value for key, value in given.items() if key.startswith(CLIENT_PREFIX)}
    try:
        client = parse_client_options({key.removeprefix(CLIENT_PREFIX): keys[key] for key in keys}, default)
    except ValueError as error:
        raise ValueError(f"option {CLIENT_PREFIX}{error}") from error
    timeout_ms = parse_timeout_ms("option requestTimeoutMs", given.get("requesttimeoutms"), client)
    return replace(client, request_timeout_ms=timeout_ms)


def parse_boolean(name: str, text: str | None) -> bool:
    """Returns False without a text."""
    if text is None or text.lower() == "false":
        return False
    if text.lower() == "true":
        return True
    raise ValueError(f"{name}={text} is not allowed: true or false")


def parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    """Parses `host:port,[::1]:port` to pairs; ValueError for anything else."""
    endpoints: list[Endpoint] = []
    for part in text.split(","):
        host, colon, port = part.strip().rpartition(":")
        if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise ValueError(f"expected host:port but got {part.strip()!r}")
        endpoints.append((host.removeprefix("[").removesuffix("]"), int(port)))
    return tuple(endpoints)
