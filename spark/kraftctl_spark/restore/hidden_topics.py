"""Topics that a client may not see: brokers leave them out, and a cluster in use looks like an empty one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kraftctl_admin.admin_client import AdminClient
from kraftctl_protocol.escaped_text import escaped
from kraftctl_spark.restore.changes import existing_topics
from kraftctl_spark.restore.cluster_state import ClusterState
from kraftctl_spark.restore.operations import CreateTopic, Operation
from kraftctl_spark.tables.manifest import ExportRefusedError

HIDDEN: Final = "it is in use, and not visible: give the account Describe on all topics"

NAMES_SHOWN_MAX: Final = 5


def check_all_are_shown(
    client: AdminClient, live: ClusterState, operations: Iterable[Operation] = ()
) -> None:
    """Raises ExportRefusedError when the cluster has a topic that the client may not describe.

    From Kafka 4.1 on, brokers list all of them. Of earlier ones, those are found that would be created.
    """
    missing = [one.topic.name for one in operations if isinstance(one, CreateTopic)]
    hidden = sorted(live.hidden_topics | set(existing_topics(client, missing)))
    if hidden:
        shown = ", ".join(hidden[:NAMES_SHOWN_MAX]) + (", ..." if hidden[NAMES_SHOWN_MAX:] else "")
        raise ExportRefusedError(
            f"cluster {escaped(live.cluster_id)} has topics that this account may not see ({escaped(shown)}):"
            f" {HIDDEN}; nothing was done"
        )
