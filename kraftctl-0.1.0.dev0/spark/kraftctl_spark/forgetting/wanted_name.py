"""A principal or a topic that is to be forgotten: where a text has its name, and the text without it.

A text has the name as a word: no letter, digit, `_`, `-` or `@` is beside it, nor a period in front of one.
`orders-eu` is another topic than `orders`, and `alice@EXAMPLE.COM` another principal than `alice`: these are
longer words. A field with the name of one thing is replaced if all of it is the name. A principal with its
type is replaced in free texts, too, between spaces and some punctuation: a comma is none, because names
have commas. All other words can be something else: they are replaced only on demand.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kraftctl_protocol.principal import USER_TYPE
from kraftctl_protocol.record_types import FREE_TEXT, PRINCIPAL, TOPIC_NAME, USER

PSEUDONYM_BYTES: Final = 8
PREFIX: Final = "forgotten-"

_SEPARATORS: Final = r"\s;\"'()\[\]{}<>|/&="
"""They are around principals; other punctuation may be within them."""
_WITHIN_WORDS: Final = r"[\w@-]"
"""Periods, too, but not behind the last word of a sentence, or in `orders.*`."""


def new_pseudonym() -> str:
    return PREFIX + secrets.token_hex(PSEUDONYM_BYTES)


@dataclass(frozen=True)
class WantedName:
    """The name, and what replaces it: `everywhere`, or where it is certain."""

    kind: str
    """The kind is PRINCIPAL or TOPIC_NAME."""
    whole: str
    """A principal has its type here: `User:alice`."""
    pseudonym: str
    everywhere: bool = False

    @property
    def bare(self) -> str:
        """The name of a principal without its type."""
        return self.whole.partition(":")[2] if self.kind == PRINCIPAL else self.whole

    @cached_property
    def bare_bytes(self) -> bytes:
        return self.bare.encode()

    @property
    def _new_whole(self) -> str:
        before = self.whole.removesuffix(self.bare)
        return before + self.pseudonym

    @property
    def _is_user(self) -> bool:
        return self.kind == PRINCIPAL and self.whole.startswith(f"{USER_TYPE}:")

    @cached_property
    def _whole_word(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![^{_SEPARATORS}]){re.escape(self.whole)}(?![^{_SEPARATORS}])")

    @cached_property
    def _bare_word(self) -> re.Pattern[str]:
        one = _WITHIN_WORDS
        return re.compile(rf"(?<!{one})(?<!{one}\.){re.escape(self.bare)}(?!\.?{one})")

    def without(self, text: str, what: str) -> str:
        """Returns the text of a kind of field without the name, as far as it is replaced there."""
        if text == self.whole and (self.kind == PRINCIPAL or what == TOPIC_NAME):
            return self._new_whole
        if text == self.bare and what == USER and self._is_user:
            return self.pseudonym
        if what == FREE_TEXT and self.kind == PRINCIPAL:
            text = self._whole_word.sub(self._new_whole, text)
        return self._bare_word.sub(self.pseudonym, text) if self.everywhere else text

    def is_in(self, text: str) -> bool:
        """Returns whether the text has the name as a word, replaced or not."""
        return text == self.whole or self._bare_word.search(text) is not None
