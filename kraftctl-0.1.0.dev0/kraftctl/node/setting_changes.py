"""What changes of the settings of the process: by committed dynamic configs, and levels of loggers."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.node.committed_configs import CommittedConfigs
from kraftctl.node.events import LogLevelsChanged, NodeEffect

_NO_EFFECTS: Final[list[NodeEffect]] = []


class SettingChanges:
    """Asked at the end of each step; hardly ever has something changed."""

    def __init__(self) -> None:
        self._configs = CommittedConfigs()

    def take_changes(self, controller: QuorumController) -> list[NodeEffect]:
        """What to change now."""
        configs = self._configs.take_change(controller)
        levels = controller.state.log_levels.take_changes()
        if configs is None and not levels:
            return _NO_EFFECTS
        changes: list[NodeEffect] = []
        if configs is not None:
            changes.append(configs)
        if levels:
            changes.append(LogLevelsChanged(levels))
        return changes
