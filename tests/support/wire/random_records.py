"""Metadata records of every type and version, with any values."""

from __future__ import annotations

import random

from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from tests.support.metadata_state import directory
from tests.support.wire.hostile_messages import HostileEdits, with_surrogates
from tests.support.wire.random_messages import RandomMessages
from tests.support.wire.request_hints import NUMBERS, WORDS

RECORD_TYPES_MAX = 64


class RandomRecords:
    """Decides by `rng` alone."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._edits = HostileEdits(rng)
        self._messages = RandomMessages(rng, WORDS, [bytes(16), directory(1)], NUMBERS, {})
        self._types: list[type[Message]] = []
        for number in range(RECORD_TYPES_MAX):
            found = record_class(number)
            if found is not None:
                self._types.append(found)

    def value(self) -> bytes:
        """The value of one record. EncodeError if its random content cannot be expressed."""
        kind = self._rng.choice(self._types)
        version = self._rng.randint(kind.LOWEST_VERSION, kind.HIGHEST_VERSION)
        record = self._messages.message(kind, version)
        if self._rng.random() < 0.3:
            record = self._edits.edited(record, version)
        return with_surrogates(encode_metadata_record(record, version))
