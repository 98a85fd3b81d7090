"""Which objects of a class are alive: compiled classes have no weak references."""

from __future__ import annotations

import gc


def live_objects(kind: type[object]) -> list[object]:
    """Those that the cyclic collector has not frozen; the list itself keeps them alive."""
    return [each for each in gc.get_objects() if type(each) is kind]
