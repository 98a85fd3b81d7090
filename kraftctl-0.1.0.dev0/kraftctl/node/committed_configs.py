"""When the dynamic configs change that this node obeys: once a change is committed, never before.

Also after a start, a snapshot or a failover: what counts is what is committed now. Before all of that is
known nothing is reported, so that no old value is applied on the way.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.node.events import NodeConfigsChanged
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT

NOTHING: Final = -2
"""No offset: there is nothing to look at."""


class CommittedConfigs:
    """Looks once for each commit that has a change of a broker config."""

    def __init__(self) -> None:
        self._image: MetadataImage | None = None
        self._broker_changes = -1
        self._awaited_offset = NOTHING
        self._reported = NodeConfigsChanged({}, {})

    def take_change(self, controller: QuorumController) -> NodeConfigsChanged | None:
        """What this node has to obey from now on; None if that is as before."""
        image = controller.image
        changes = image.configurations.broker_changes
        if changes != self._broker_changes or image is not self._image:
            self._image, self._broker_changes = image, changes
            offset = controller.next_replay_offset - 1
            awaited = self._awaited_offset
            self._awaited_offset = offset if awaited == NOTHING else min(offset, awaited)
        if self._awaited_offset == NOTHING or not controller.state.metadata_loaded:
            return None
        stable_offset = controller.last_stable_offset
        if self._awaited_offset > stable_offset:
            return None
        # What was changed since may not be committed: it is looked at when it is.
        last_offset = controller.next_replay_offset - 1
        self._awaited_offset = NOTHING if last_offset <= stable_offset else last_offset
        found = committed_configs(controller, stable_offset)
        if found == self._reported:
            return None
        self._reported = found
        return found


def committed_configs(controller: QuorumController, stable_offset: int) -> NodeConfigsChanged:
    """Returns the configs of this node and of the cluster, as of the record at `stable_offset`."""
    image = controller.image
    view = image.journal.open_view(stable_offset + 1)
    own = dict(image.configurations.config_in_view(view, (BROKER, str(controller.state.node_id))))
    cluster = dict(image.configurations.config_in_view(view, (BROKER, CLUSTER_DEFAULT)))
    image.journal.close_view(view)
    return NodeConfigsChanged(own, cluster)
