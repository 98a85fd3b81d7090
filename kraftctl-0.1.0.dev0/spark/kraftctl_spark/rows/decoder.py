"""A name for what a release understands of records: types, versions and fields."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache

from kraftctl_protocol.message import Message
from kraftctl_spark.rows.metadata_rows import TYPED_CLASSES

_DIGEST_CHARACTERS = 16


@cache
def decoder_name() -> str:
    """Returns a digest that differs between releases that do not understand the same records."""
    text = "\n".join(line for message in TYPED_CLASSES for line in _lines(message))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARACTERS]


def _lines(message: type[Message]) -> Iterator[str]:
    yield f"{message.NAME} {message.API_KEY} {message.LOWEST_VERSION} {message.HIGHEST_VERSION}"
    for field in message.FIELDS:
        yield f"{field.name} {field.type}"
        if field.struct is not None:
            yield from _lines(field.struct)
