"""The operations of IncrementalAlterConfigs, by the numbers of the wire."""

from __future__ import annotations

from typing import Final

SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
