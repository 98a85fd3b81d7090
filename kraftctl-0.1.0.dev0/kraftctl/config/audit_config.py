"""The keys of the audit log and the authorizer's log. Kafka has none: log4j2.yaml configures its loggers."""

from __future__ import annotations

from typing import Final

from kraftctl.apis.api_table import API_TABLE, AUDITED_API_KEYS, AUDITED_ON_DEMAND_API_KEYS
from kraftctl_security.config_values import ConfigValues

MIB: Final = 1024 * 1024

LEVELS: Final = ("off", "info", "debug", "trace")
"""The levels of the authorizer's log: none; denials; grants, too; and checks that only determine
authorized operations."""


class LogFileConfig:
    """A file that is renamed when it would exceed `max_bytes`; `max_files` are kept, with the present one.

    `path` is empty when there is no file.
    """

    def __init__(self, values: ConfigValues, prefix: str) -> None:
        self.path_key = f"{prefix}.path"
        self.path = values.text(self.path_key)
        self.max_bytes = values.int64(f"{prefix}.max.bytes", 100 * MIB, MIB)
        self.max_files = values.int32(f"{prefix}.max.files", 10, 1)


class AuditConfig:
    """`api_keys` are those of the requests that the audit log has a line for; empty without a file."""

    def __init__(self, values: ConfigValues) -> None:
        self.file = LogFileConfig(values, "kraftctl.audit.log")
        self.api_keys = self._api_keys(values, "kraftctl.audit.log.internal.apis")
        self.authorizer_level = values.choice("kraftctl.authorizer.log.level", "info", list(LEVELS))
        self.authorizer_file = LogFileConfig(values, "kraftctl.authorizer.log")

    def _api_keys(self, values: ConfigValues, key: str) -> frozenset[int]:
        internal = {API_TABLE[api_key].name: api_key for api_key in AUDITED_ON_DEMAND_API_KEYS}
        chosen: set[int] = set()
        for name in values.names(key):
            if name in internal:
                chosen.add(internal[name])
            else:
                values.refuse(key, values.text(key), f"{name} is not one of {', '.join(sorted(internal))}")
        return AUDITED_API_KEYS | chosen if self.file.path else frozenset()
