"""Everything that the checks look at: the file, its configuration, and what the other controllers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kraftctl.cli.admin.node_answers import NodeAnswers, NodeInquiry, ask_all
from kraftctl.cli.config_file import read_config_file
from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.server.controller_server import peers_context
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_admin.client_config import ClientConfig
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_security.blocking_connection import Endpoint
from kraftctl_security.client_config import ClientSecurity
from kraftctl_security.client_mechanisms import new_sasl_client_of
from kraftctl_security.resolved_properties import ResolvedProperties
from kraftctl_security.sasl.jaas_file import read_jaas_file
from kraftctl_security.tls.store_error import StoreError

PEERS_MS_MAX: Final = 5_000
"""The time for all other controllers together: they are asked at the same time."""


@dataclass
class Subject:
    """A file that could be read; `config` is None if a controller would refuse it, with these `errors`."""

    file: Path
    clock: Clock
    properties: ResolvedProperties
    overridden: frozenset[str] = frozenset()
    config: ControllerConfig | None = None
    errors: list[str] = field(default_factory=list)
    is_offline: bool = False
    answers: Mapping[Endpoint, NodeAnswers] = field(default_factory=dict)
    asking_failed: str | None = None
    """Why no other controller could be asked: keys or certificates that cannot be used."""

    def checked(self) -> ControllerConfig:
        """Returns the configuration, for checks that need one."""
        assert self.config is not None
        return self.config

    def meta(self) -> MetaProperties | None:
        """Returns the identity of the directory of the metadata log; None without a usable one."""
        try:
            return read_meta_properties(Path(self.checked().metadata_log_dir))
        except StorageError:
            return None

    def ask_peers(self) -> None:
        """Asks the controllers that the file names, this one included."""
        config = self.checked()
        meta = self.meta()
        try:
            client = ClientConfig(client_id="kraftctl-doctor", security=_security(config))
        except (StoreError, OSError) as error:
            self.asking_failed = str(error)
            return
        deadline_ms = self.clock.now_ms() + PEERS_MS_MAX
        self.answers = ask_all(
            addresses_of(config),
            lambda endpoint: NodeInquiry(
                endpoint,
                config=client,
                clock=self.clock,
                deadline_ms=deadline_ms,
                to_controllers=True,
                cluster_id=None if meta is None else meta.cluster_id,
            ),
            self.clock,
            deadline_ms,
        )


def read_subject(file: Path, overrides: Sequence[str], clock: Clock, *, is_offline: bool) -> Subject:
    """Reads the file. Raises StorageError or OSError when it cannot be read at all."""
    overridden = frozenset(override.partition("=")[0].strip() for override in overrides)
    try:
        properties = read_config_file(file, overrides)
    except PropertiesError as error:
        return Subject(file, clock, _nothing(), overridden, None, [str(error)], is_offline)
    except ConfigException as error:
        return Subject(file, clock, _nothing(), overridden, None, error.errors, is_offline)
    try:
        config = ControllerConfig(properties, read_jaas_file())
    except ConfigException as error:
        return Subject(file, clock, properties, overridden, None, error.errors, is_offline)
    return Subject(file, clock, properties, overridden, config, [], is_offline)


def addresses_of(config: ControllerConfig) -> list[Endpoint]:
    """Returns the addresses of voters and bootstrap servers, each once."""
    voters = [config.controller_quorum_voters[each] for each in sorted(config.controller_quorum_voters)]
    return list(dict.fromkeys([*voters, *config.controller_quorum_bootstrap_servers]))


def own_addresses(config: ControllerConfig) -> set[Endpoint]:
    """Returns the addresses of this controller, at which it need not be running."""
    found = {(each.host, each.port) for each in config.advertised_listeners if each.host}
    own = config.controller_quorum_voters.get(config.node_id)
    return found | ({own} if own is not None else set())


def _nothing() -> ResolvedProperties:
    return ResolvedProperties({}, {}, (), {})


def _security(config: ControllerConfig) -> ClientSecurity:
    """Returns the security with which this controller connects to others. Raises StoreError."""
    sasl = config.controller_sasl
    return ClientSecurity(
        ssl_context=peers_context(config),
        new_sasl_client=None if sasl is None else new_sasl_client_of(sasl),
    )
