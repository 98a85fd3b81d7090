"""Properties some of whose values came from config providers: errors do not show those values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

HIDDEN: Final = "[hidden]"

TOKEN: Final = re.compile(r"[^\s,;'\"]+")
TOKEN_LENGTH_MIN: Final = 4
"""A shorter part of a value, such as a number, is hidden only where it stands between quotes."""

OPEN_WORDS: Final = frozenset(
    ["broker", "controller", "true", "false", "none", "required", "requested", "plaintext", "ssl"]
    + ["sasl_plaintext", "sasl_ssl", "sasl", "plain", "https", "host", "host:port"]
)
"""Words of Kafka's that sentences about a value use, too, in lower case: they are no secrets."""


class ResolvedProperties(dict[str, str]):
    """`provided` has, by key, what providers gave for its value; `provider_keys` configure the providers."""

    def __init__(
        self,
        properties: Mapping[str, str],
        provided: Mapping[str, Iterable[str]],
        provider_keys: Iterable[str],
    ) -> None:
        super().__init__(properties)
        self.provided_keys = frozenset(provided)
        self.provider_keys = frozenset(provider_keys)
        self._texts = _hidden_texts(
            text for key, texts in provided.items() for text in [*texts, properties[key]]
        )

    def hide(self, error: str) -> str:
        """The text of an error without the values that providers gave, and without parts of them."""
        for text in self._texts:
            if text in error:
                error = _without(error, text)
        return error


def _hidden_texts(values: Iterable[str]) -> list[str]:
    """The longest first: each may be a part of another."""
    found: set[str] = set()
    for value in values:
        found.update([value.strip(), *TOKEN.findall(value)])
    hidden = [text for text in found if text and text.lower() not in OPEN_WORDS]
    return sorted(hidden, key=lambda text: (-len(text), text))


def _without(error: str, text: str) -> str:
    if len(text) < TOKEN_LENGTH_MIN:
        return error.replace(f"'{text}'", f"'{HIDDEN}'")
    return re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", HIDDEN, error)
