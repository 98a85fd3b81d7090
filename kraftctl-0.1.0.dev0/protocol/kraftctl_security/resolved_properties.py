"""Properties some of whose values came from config providers: errors do not show those values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

HIDDEN: Final = "[hidden]"

TOKENS: Final = (re.compile(r"[^\s,;'\"]+"), re.compile(r"[^\s,;'\":/@=()]+"))
"""Errors may repeat these parts of a value: an entry of a list, and a part of that."""

TOKEN_LENGTH_MIN: Final = 4
"""A shorter part of a value, such as a number, is hidden only where it stands between quotes."""

OPEN_WORDS: Final = frozenset(
    ["broker", "controller", "true", "false", "none", "required", "requested", "plaintext", "ssl", "https"]
    + ["sasl_plaintext", "sasl_ssl", "sasl", "plain", "host", "host:port", "username", "password", "user"]
)
"""Kafka's own words, in lower case, which sentences about a value use, too. They are not secrets."""

OPEN_PREFIX: Final = "org.apache.kafka."


class ResolvedProperties(dict[str, str]):
    """`provided` has, by key, what providers gave for its value, and `files` the files that had it;
    `provider_keys` configure the providers.
    """

    def __init__(
        self,
        properties: Mapping[str, str],
        provided: Mapping[str, Iterable[str]],
        provider_keys: Iterable[str],
        files: Mapping[str, list[str]],
    ) -> None:
        super().__init__(properties)
        self.provided_keys = frozenset(provided)
        self.provider_keys = frozenset(provider_keys)
        self.files = dict(files)
        self._hidden = sorted(
            set().union(*(_hidden_texts(list(texts), properties[key]) for key, texts in provided.items())),
            key=lambda text: (-len(text), text),
        )

    def hide(self, error: str) -> str:
        """Returns the text of an error without the values that providers gave, and without parts of them."""
        for text in self._hidden:
            if text in error:
                error = _without(error, text)
        return error


def _hidden_texts(given: list[str], value: str) -> set[str]:
    """Returns what providers gave, its parts, and the parts of the whole value that contain some of it."""
    whole = {text.strip() for text in given} - {""}
    found = whole.union(*map(_parts, whole))
    found.update(part for part in _parts(value) if any(text in part for text in whole))
    return {text for text in found if not text.startswith(OPEN_PREFIX) and text.lower() not in OPEN_WORDS}


def _parts(text: str) -> set[str]:
    return {part for tokens in TOKENS for part in tokens.findall(text)}


def _without(error: str, text: str) -> str:
    if len(text) < TOKEN_LENGTH_MIN:
        return error.replace(f"'{text}'", f"'{HIDDEN}'")
    return re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", HIDDEN, error)
