"""Which damage to quorum-state a reader can notice.

Kafka's format is JSON without a checksum: a digit in the place of another is another vote, and no reader can
see that. docs/reliability.md has it as a known limit, so the simulator does not do that.
"""

from __future__ import annotations

import json

PROMISES = ("leaderId", "leaderEpoch", "votedId", "votedDirectoryId", "data_version")


def changes_a_promise(before: bytes, after: bytes) -> bool:
    """Whether `after` can be read, but says something else."""
    one, other = _fields(before), _fields(after)
    return one is not None and other is not None and one != other and _types(one) == _types(other)


def _fields(content: bytes) -> dict[str, object] | None:
    """What the file promises. None when it is no JSON object."""
    try:
        fields = json.loads(content.decode().partition("\n")[0])
    except ValueError:
        return None
    return {name: fields.get(name) for name in PROMISES} if isinstance(fields, dict) else None


def _types(fields: dict[str, object]) -> dict[str, type]:
    return {name: type(value) for name, value in fields.items()}
