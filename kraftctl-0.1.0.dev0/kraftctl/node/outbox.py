"""Outbox: the effects of one step, in the order in which they are carried out."""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.node.events import NodeEffect


class Outbox:
    """Collects the effects of everything in a node that causes some."""

    def __init__(self) -> None:
        self._effects: list[NodeEffect] = []

    def add(self, effect: NodeEffect) -> None:
        """Adds an effect that is carried out after all that were added before."""
        self._effects.append(effect)

    def add_all(self, effects: Sequence[NodeEffect]) -> None:
        """Adds effects that are carried out in their order, after all that were added before."""
        self._effects.extend(effects)

    def take(self) -> list[NodeEffect]:
        """Returns the effects of this step; the next one begins without any."""
        effects, self._effects = self._effects, []
        return effects
