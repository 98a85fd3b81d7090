"""`ssl.principal.mapping.rules` makes the name of a principal from the subject of its certificate (KIP-371).

It is like Kafka's SslPrincipalMapper: the first rule whose pattern matches the whole subject decides.
Patterns are Java's: see kraftctl_security.java_patterns. Clients choose subjects, so RE2 matches them, in a
time that grows with their length: `^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$`, of Kafka's
documentation, takes seconds of an engine that backtracks. See docs/adr/0017.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kraftctl_security.java_patterns import PatternError, compile_pattern

if TYPE_CHECKING:
    from re2 import _Match, _Regexp

_RULE: Final = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER: Final = re.compile(rf"\s*({_RULE})\s*(?:,\s*|$)", re.ASCII)
_PARSER: Final = re.compile(_RULE, re.ASCII)
_BACK_REFERENCE: Final = re.compile(r"\$([0-9]+)")
_DIGITS_MAX: Final = 9

_UNLIKE_JAVA: Final = frozenset("\x0b\r\x85\u2028\u2029")
r"""A dot matches a line end and `\s` no vertical tab in RE2; both are the other way round in Java."""

_IGNORES_CASE: Final = "(?i"
"""RE2 takes a Kelvin sign for a k and a long s for an s where case is ignored; Java knows ASCII there."""

_MEMORY_BYTES_MAX: Final = 1024 * 1024
"""The limit of a compiled pattern and of the states that RE2 keeps of it."""


class RuleError(Exception):
    """A list of rules that cannot be used; the text says which and why."""


class NoMatchingRuleError(Exception):
    """No rule applies to a subject: its connection has to be closed, as in Kafka."""


class _Rule:
    """A rule; a pattern of None is DEFAULT. `case` is L, U or empty."""

    def __init__(self, pattern: _Regexp | None, replacement: str, case: str) -> None:
        self.pattern = pattern
        self.replacement = replacement
        self.case = case

    def apply(self, subject: str) -> str | None:
        """Returns the name, or None when the pattern does not match the whole subject."""
        pattern = self.pattern
        if pattern is None:
            return subject
        if not _UNLIKE_JAVA.isdisjoint(subject) or pattern.fullmatch(subject) is None:
            return None
        if _IGNORES_CASE in pattern.pattern and not subject.isascii():
            return None
        # Every match is replaced, as by Java's replaceAll, not only the one of the whole subject.
        parts: list[str] = []
        position = 0
        match = pattern.search(subject)
        while match is not None:
            parts.append(subject[position : match.start()])
            parts.append(_expand(self.replacement, match))
            position = match.end()
            # Behind an empty match Java moves by one, where Python looks for a longer one at the same place.
            start = position + 1 if match.start() == position else position
            match = pattern.search(subject, start) if start <= len(subject) else None
        name = "".join(parts) + subject[position:]
        if self.case == "L":
            return name.lower()
        return name.upper() if self.case == "U" else name


class SslPrincipalMapper:
    """Maps subjects by a list of rules. Raises RuleError for rules that cannot be parsed."""

    def __init__(self, rules: str) -> None:
        self._rules: list[_Rule] = []
        for match in _SPLITTER.finditer(rules.strip()):
            rule = _parsed(match.group(1))
            if rule is not None:
                self._rules.append(rule)

    def name(self, subject: str) -> str:
        """Returns the name for the subject of a certificate; NoMatchingRuleError when no rule applies."""
        for rule in self._rules:
            name = rule.apply(subject)
            if name is not None:
                return name
        raise NoMatchingRuleError(f"no rule of ssl.principal.mapping.rules applies to '{subject}'")


def _parsed(rule: str) -> _Rule | None:
    match = _PARSER.match(rule)
    if match is None or match.end() != len(rule):
        raise RuleError(f"'{rule}' is neither DEFAULT nor RULE:pattern/replacement/[LU]")
    if match.group(1) is not None:
        return _Rule(None, "", "")
    if match.group(2) is None:
        return None  # an empty rule
    pattern = _compiled(match.group(2))
    replacement = _with_literal_references(match.group(3), pattern.groups)
    _check_replacement(replacement, pattern)
    return _Rule(pattern, replacement, match.group(4))


def _compiled(text: str) -> _Regexp:
    # With RE2: 3 MiB that listeners without rules have no use for.
    import re2

    options = re2.Options()
    options.max_mem = _MEMORY_BYTES_MAX
    options.log_errors = False
    try:
        compile_pattern(text)
        return re2.compile(text, options)
    except PatternError as error:
        raise RuleError(str(error)) from error
    except re2.error as error:
        raise RuleError(
            f"the pattern '{text}' cannot be matched in a time that grows with the subject alone"
            f" ({error}). Next step: write it without (?=, (?!, (?<, (?>, \\1, a++ and repetitions above 1000"
        ) from error


def _with_literal_references(replacement: str, groups_count: int) -> str:
    """Escapes `$4` where there are only three groups: Kafka takes it for text.

    Kafka puts the backslash at the place that the reference had before others were changed, and so does
    this.
    """
    if groups_count == 0:
        return replacement
    result = replacement
    for match in _BACK_REFERENCE.finditer(replacement):
        digits = match.group(1)
        if digits.startswith("0"):
            continue
        if len(digits) > _DIGITS_MAX:
            raise RuleError(f"the replacement '{replacement}' has a reference that is no number")
        index = int(digits)
        while index > groups_count and index >= 10:
            index //= 10
        if index > groups_count:
            place = match.start()
            result = result[:place] + "\\" + result[place:]
    return result


def _check_replacement(replacement: str, pattern: _Regexp) -> None:
    """Refuses a bad replacement with the configuration; Java refuses it when it is used first."""
    for _, reference in _pieces(replacement, pattern.groups):
        known = reference is None or reference <= pattern.groups
        if not known:
            raise RuleError(f"the replacement '{replacement}' names a group that its pattern does not have")


def _expand(replacement: str, match: _Match) -> str:
    parts: list[str] = []
    for text, reference in _pieces(replacement, match.re.groups):
        parts.append(text if reference is None else match.group(reference) or "")
    return "".join(parts)


def _pieces(replacement: str, groups_count: int) -> list[tuple[str, int | None]]:
    r"""Returns text, and the numbers of groups, as Java's Matcher reads `$1` and `\$`."""
    pieces: list[tuple[str, int | None]] = []
    position = 0
    while position < len(replacement):
        character = replacement[position]
        position += 1
        if character == "\\":
            if position == len(replacement):
                raise RuleError(f"the replacement '{replacement}' ends with a single backslash")
            pieces.append((replacement[position], None))
            position += 1
        elif character == "$":
            reference, position = _reference(replacement, position, groups_count)
            pieces.append(("", reference))
        else:
            pieces.append((character, None))
    return pieces


def _reference(replacement: str, position: int, groups_count: int) -> tuple[int, int]:
    """Returns the number after a dollar, of as many digits as name a group, and the position behind it."""
    if position == len(replacement) or not "0" <= replacement[position] <= "9":
        raise RuleError(f"the replacement '{replacement}' has a $ that no number follows")
    number = int(replacement[position])
    position += 1
    while position < len(replacement) and "0" <= replacement[position] <= "9":
        longer = number * 10 + int(replacement[position])
        if longer > groups_count:
            break
        number = longer
        position += 1
    return number, position
