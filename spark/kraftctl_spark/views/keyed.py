"""State that one record sets or removes as a whole under a key: the versions have it as it is shown."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_spark.history.versions.kinds import (
    ACLS,
    CONTROLLERS,
    DELEGATION_TOKENS,
    FEATURES,
    PRODUCER_IDS,
    QUOTAS,
    SCRAM_CREDENTIALS,
    Kind,
)
from kraftctl_spark.views.log import Log


def _state(kind: Kind) -> Callable[[Log], str]:
    columns = ", ".join((*kind.key, *kind.values))
    return lambda log: f"SELECT {columns} FROM {log.versions(kind)}"


KEYED = {
    kind.name: _state(kind)
    for kind in (CONTROLLERS, ACLS, QUOTAS, FEATURES, SCRAM_CREDENTIALS, DELEGATION_TOKENS, PRODUCER_IDS)
}
"""The views by name."""
