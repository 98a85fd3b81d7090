"""A JAAS file: sections of login modules, as Java reads `-Djava.security.auth.login.config=FILE`.

Kafka's scripts pass that option in the environment variable KAFKA_OPTS. A listener uses the section
`<name in lower case>.KafkaServer`, or else `KafkaServer`; a client `KafkaClient`. `sasl.jaas.config` precedes
them.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.jvm_options import last_option
from kraftctl_security.sasl.jaas import (
    ALLOWED_FLAGS,
    CONTROL_FLAGS,
    JaasContext,
    JaasEntry,
    JaasError,
    require_known_module,
)
from kraftctl_security.sasl.java_tokens import DOUBLE_QUOTED, END, WORD, Token, tokens

LOGIN_CONFIG_OPTION: Final = "-Djava.security.auth.login.config="

SERVER_SECTION: Final = "KafkaServer"
CLIENT_SECTION: Final = "KafkaClient"


class LoginConfiguration:
    """`sections` maps the name of a section to its login modules; `file` is for the texts of errors."""

    def __init__(self, file: str, sections: dict[str, list[JaasEntry]]) -> None:
        self.file = file
        self.sections = sections

    def context(self, *names: str) -> JaasContext | None:
        """Returns the first of these sections that exists; raises JaasError for an unsupported module."""
        for name in names:
            if self.sections.get(name):
                try:
                    for entry in self.sections[name]:
                        require_known_module(entry)
                except JaasError as error:
                    raise JaasError(f"section {name} of {self.file}: {error}") from error
                return JaasContext(f"section {name} of {self.file}", self.sections[name])
        return None


def login_configuration_file(kafka_opts: str) -> str | None:
    """Returns the file that the last such option of a JVM names, as Java does; None without one."""
    file = last_option(kafka_opts, LOGIN_CONFIG_OPTION)
    return None if file is None else file.removeprefix("=").removeprefix("file:") or None


def parse_login_configuration(file: str, text: str) -> LoginConfiguration:
    """Parses a JAAS file. Raises JaasError, which names the file and shows no option."""
    try:
        return LoginConfiguration(file, _Parser(tokens(text, "-_$*")).sections())
    except JaasError as error:
        raise JaasError(f"{file}: {error}") from error


class _Parser:
    """The grammar of Java's ConfigFile: a section is a list of what `sasl.jaas.config` has one of."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._index = 0

    def sections(self) -> dict[str, list[JaasEntry]]:
        sections: dict[str, list[JaasEntry]] = {}
        while self._peek().kind != END:
            name = self._text("the name of a section")
            self._expect("{")
            entries: list[JaasEntry] = []
            while self._peek().kind != "}":
                entries.append(self._entry())
            self._expect("}")
            self._expect(";")
            if name in sections:
                raise JaasError(f"it has the section {name} twice")
            sections[name] = entries
        return sections

    def _entry(self) -> JaasEntry:
        module = self._text("the name of a login module")
        if not module:
            raise JaasError("the name of a login module is empty")
        line = self._peek().line
        flag = self._text(f"one of {ALLOWED_FLAGS} after the login module").upper()
        if flag not in CONTROL_FLAGS:
            raise JaasError(f"line {line}: after the login module, expected one of {ALLOWED_FLAGS}")
        options: dict[str, str] = {}
        while self._peek().kind != ";":
            key = self._text("an option, or a semicolon after the last")
            self._expect("=")
            options[key] = self._value()
        self._expect(";")
        return JaasEntry(module, flag, options)

    def _value(self) -> str:
        line = self._peek().line
        value = self._text("the value of an option, in double quotes unless it is a word")
        if "${" in value:
            raise JaasError(f"line {line}: a value has ${{, which Java replaces by a property of the JVM")
        return value

    def _peek(self) -> Token:
        return self._tokens[self._index]

    def _text(self, expected: str) -> str:
        token = self._peek()
        if token.kind not in (WORD, DOUBLE_QUOTED) or token.text is None:
            raise JaasError(f"line {token.line}: expected {expected}")
        self._index += 1
        return token.text

    def _expect(self, character: str) -> None:
        if self._peek().kind != character:
            raise JaasError(f"line {self._peek().line}: expected {character}")
        self._index += 1
