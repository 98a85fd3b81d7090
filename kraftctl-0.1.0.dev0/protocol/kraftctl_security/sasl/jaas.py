"""JAAS configurations: the login modules of a value of `sasl.jaas.config`, parsed as by Kafka's JaasConfig.

    org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="alice-secret";

Only the modules of Kafka that are implemented here are accepted; no class is loaded (CVE-2023-25194). The
texts of errors repeat neither names nor values of options: where a quote is missing, either may have parts of
a password.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.sasl.java_tokens import END, WORD, Token, tokens

PLAIN_LOGIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_LOGIN_MODULE: Final = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTHBEARER_LOGIN_MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"

LOGIN_MODULES: Final = (PLAIN_LOGIN_MODULE, SCRAM_LOGIN_MODULE, OAUTHBEARER_LOGIN_MODULE)

CONTROL_FLAGS: Final = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
"""Control flags are accepted in any case, and ignored: as in Kafka, all modules of a context are used."""

ALLOWED_FLAGS: Final = ", ".join(CONTROL_FLAGS).lower()

NOT_TERMINATED: Final = "a login module and its options must end with a semicolon"


class JaasError(Exception):
    """A configuration that cannot be parsed or is not accepted; the text shows no option of it."""


class JaasEntry:
    """A login module with its options."""

    def __init__(self, login_module: str, control_flag: str, options: dict[str, str]) -> None:
        self.login_module = login_module
        self.control_flag = control_flag
        self.options = options


class JaasContext:
    """The login modules that one mechanism of a listener uses, or a client.

    `source` is the key or the section of a file that they are from, for the texts of errors.
    """

    def __init__(self, source: str, entries: list[JaasEntry]) -> None:
        self.source = source
        self.entries = entries

    def has(self, login_module: str) -> bool:
        return any(entry.login_module == login_module for entry in self.entries)

    def options(self, login_module: str) -> dict[str, str]:
        """Returns the options of a module. If it is there twice, the first entry decides for each option."""
        found: dict[str, str] = {}
        for entry in self.entries:
            if entry.login_module == login_module:
                found = entry.options | found
        return found


def parse_jaas_config(text: str) -> JaasEntry:
    """Returns the one login module of a value of `sasl.jaas.config`; raises JaasError."""
    entries = parse_entries(text)
    if len(entries) != 1:
        raise JaasError(f"it has {len(entries)} login modules, and must have exactly one")
    require_known_module(entries[0])
    return entries[0]


def require_known_module(entry: JaasEntry) -> None:
    """Raises JaasError for a login module that is not implemented here."""
    if entry.login_module not in LOGIN_MODULES:
        raise JaasError(
            f"the login module {entry.login_module} is not supported; allowed are {', '.join(LOGIN_MODULES)}"
        )


def parse_entries(text: str) -> list[JaasEntry]:
    """Returns all login modules of a text, at least one, without a check of their names."""
    parser = _Parser(tokens(text, "-_$"))
    entries: list[JaasEntry] = []
    while not parser.at_end():
        entries.append(parser.entry())
    if not entries:
        raise JaasError("it has no login module")
    return entries


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._index = 0

    def at_end(self) -> bool:
        return self._tokens[self._index].kind == END

    def entry(self) -> JaasEntry:
        module = self._next().text
        if not module:
            raise JaasError("it does not begin with the name of a login module")
        flag = self._next().text
        if flag is None or flag.upper() not in CONTROL_FLAGS:
            raise JaasError(f"after the login module, expected one of {ALLOWED_FLAGS}")
        options: dict[str, str] = {}
        while (token := self._next()).kind not in (END, ";"):
            key, value = self._option(token, len(options) + 1)
            options[key] = value
        if token.kind == END:
            raise JaasError(NOT_TERMINATED)
        return JaasEntry(module, flag.upper(), options)

    def _option(self, key: Token, number: int) -> tuple[str, str]:
        equals, value = self._next(), self._next()
        if key.text is None:
            raise JaasError(f"option {number} has no name; a name must not begin with a digit")
        if equals.kind != "=" or value.text is None:
            unquoted = key.kind == WORD and equals.kind == "="
            advice = "; put it into double quotes" if unquoted else ""
            raise JaasError(f"option {number} has no value: expected name=value{advice}")
        return key.text, value.text

    def _next(self) -> Token:
        """Returns the next token; at the end, END each time."""
        token = self._tokens[self._index]
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token
