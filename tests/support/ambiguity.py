"""Proves that a regular expression needs no more than a fixed number of looks at each character.

Python's engine tries all paths through an expression before it says that nothing matches. How many paths a
text can have is the ambiguity of the automaton (Weber and Seidl, 1991): finite, or growing as a polynomial
(two loops that follow each other and take the same text, as in `a*a*`), or exponentially (a loop that takes
a text in two ways, as in `(a|a)*`). States are the places of characters in the expression (Glushkov).
"""

from __future__ import annotations

import re
import warnings
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import sre_constants as sre
    import sre_parse as parser

OTHERS = 256
"""The number of all characters beyond Latin-1."""

ALL = (1 << OTHERS + 1) - 1

COPIES_MAX = 32
"""A repetition up to this number is written out; one above is taken for a loop."""

CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


class UnknownElementError(Exception):
    """The expression has an element that the proof does not cover, as a reference to a group."""


class _Part:
    """A part of an expression: where it begins and ends, each with what may follow a possessive loop."""

    def __init__(self, first: list[tuple[int, int]], last: list[tuple[int, int]], is_empty: bool) -> None:
        self.first = first
        self.last = last
        self.is_empty = is_empty
        self.passing = ALL
        """The next characters with which this part may be empty."""


class _Automaton:
    def __init__(self, flags: int) -> None:
        self.flags = flags
        self.masks: list[int] = []
        self.edges: list[dict[int, list[int]]] = []
        """For each place, those that follow: how often, and with which characters each time."""

    def place(self, mask: int) -> _Part:
        self.masks.append(mask)
        self.edges.append({})
        return _Part([(len(self.masks) - 1, ALL)], [(len(self.masks) - 1, ALL)], is_empty=False)

    def join(self, before: list[tuple[int, int]], after: list[tuple[int, int]]) -> None:
        for state, left in before:
            for follower, right in after:
                mask = self.masks[follower] & left & right
                if mask:
                    self.edges[state].setdefault(follower, []).append(mask)

    def sequence(self, items: Any) -> _Part:
        whole = _Part([], [], is_empty=True)
        for operator, argument in items:
            whole = self.then(whole, self.part(operator, argument))
        return whole

    def then(self, one: _Part, two: _Part) -> _Part:
        self.join(one.last, two.first)
        first = one.first + [(s, m & one.passing) for s, m in two.first if one.is_empty and m & one.passing]
        last = two.last + [(s, m & two.passing) for s, m in one.last if two.is_empty and m & two.passing]
        whole = _Part(first, last, one.is_empty and two.is_empty)
        whole.passing = one.passing & two.passing
        return whole

    def part(self, operator: Any, argument: Any) -> _Part:
        nothing = _Part([], [], is_empty=True)
        if operator in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self.place(self.mask(operator, argument))
        if operator == sre.SUBPATTERN:
            return self.sequence(argument[3])
        if operator == sre.ATOMIC_GROUP:
            return self.sequence(argument)
        if operator == sre.BRANCH:
            parts = [self.sequence(each) for each in argument[1]]
            return _Part(
                [each for part in parts for each in part.first],
                [each for part in parts for each in part.last],
                any(part.is_empty for part in parts),
            )
        if operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            return self.repetition(operator == sre.POSSESSIVE_REPEAT, *argument)
        if operator in (sre.ASSERT, sre.ASSERT_NOT):
            require_linear(argument[1], self.flags)
            return nothing
        if operator == sre.AT:
            return nothing
        raise UnknownElementError(str(operator))

    def repetition(self, is_possessive: bool, least: int, most: Any, items: Any) -> _Part:
        if most == sre.MAXREPEAT or most > COPIES_MAX:
            return self.loop(is_possessive, self.sequence(items), is_optional=least == 0)
        whole = _Part([], [], is_empty=True)
        for index in range(most):
            body = self.sequence(items)
            if index >= least:
                self.make_optional(body, is_possessive)
            whole = self.then(whole, body)
        return whole

    def loop(self, is_possessive: bool, body: _Part, *, is_optional: bool) -> _Part:
        self.join(body.last, body.first)
        if is_possessive:
            left = ALL & ~self.beginning(body)
            body.last = [(state, mask & left) for state, mask in body.last]
        if is_optional:
            self.make_optional(body, is_possessive)
        return body

    def make_optional(self, body: _Part, is_possessive: bool) -> None:
        body.is_empty = True
        if is_possessive:
            body.passing = ALL & ~self.beginning(body)

    def beginning(self, body: _Part) -> int:
        found = 0
        for state, mask in body.first:
            found |= self.masks[state] & mask
        return found

    def mask(self, operator: Any, argument: Any) -> int:
        if operator == sre.ANY:
            return ALL if self.flags & re.DOTALL else ALL & ~(1 << ord("\n"))
        if operator == sre.IN:
            found = 0
            for kind, value in argument:
                if kind == sre.NEGATE:
                    continue
                found |= self.member(kind, value)
            return ALL & ~found if argument[0][0] == sre.NEGATE else found
        found = self.member(sre.LITERAL, argument)
        return ALL & ~found if operator == sre.NOT_LITERAL else found

    def member(self, kind: Any, value: Any) -> int:
        if kind == sre.CATEGORY:
            pattern = re.compile(CATEGORIES[value], self.flags & (re.ASCII | re.UNICODE))
            found = sum(1 << code for code in range(OTHERS) if pattern.fullmatch(chr(code)))
            return found | (1 << OTHERS)
        low, high = value if kind == sre.RANGE else (value, value)
        found = 0
        for code in range(low, min(high, OTHERS - 1) + 1):
            found |= 1 << code
            if self.flags & re.IGNORECASE:
                for other in (chr(code).lower(), chr(code).upper()):
                    found |= 1 << min(ord(other[0]), OTHERS)
        return found | (1 << OTHERS) if high >= OTHERS else found

    def reachable(self, start: int) -> set[int]:
        found: set[int] = set()
        waiting = [start]
        while waiting:
            for each in self.edges[waiting.pop()]:
                if each not in found:
                    found.add(each)
                    waiting.append(each)
        return found

    def why_not_linear(self) -> str | None:
        reached = [self.reachable(state) for state in range(len(self.masks))]
        loops = [state for state in range(len(self.masks)) if state in reached[state]]
        for state in loops:
            for follower, masks in self.edges[state].items():
                if len(masks) > 1 and state in reached[follower] and _meet(masks):
                    return "exponential: a loop takes a text in two ways"
        for one in loops:
            if self.returns_twice(one, reached):
                return "exponential: a loop takes a text in two ways"
            for two in loops:
                if two != one and two in reached[one] and self.shares_text(one, two, reached):
                    return "polynomial: two loops take the same text"
        return None

    def returns_twice(self, state: int, reached: list[set[int]]) -> bool:
        seen: set[tuple[int, int]] = set()
        waiting = [(state, state)]
        while waiting:
            pair = waiting.pop()
            for step in self.steps(pair):
                if any(state not in reached[each] for each in step) or step in seen:
                    continue
                if step == (state, state) and pair[0] != pair[1]:
                    return True
                seen.add(step)
                waiting.append(step)
        return any(a != b and self.meets(a, b, state, reached) for a, b in seen)

    def meets(self, a: int, b: int, state: int, reached: list[set[int]]) -> bool:
        seen = {(a, b)}
        waiting = [(a, b)]
        while waiting:
            for step in self.steps(waiting.pop()):
                if step == (state, state):
                    return True
                if step not in seen and all(state in reached[each] for each in step):
                    seen.add(step)
                    waiting.append(step)
        return False

    def shares_text(self, one: int, two: int, reached: list[set[int]]) -> bool:
        """Whether a text leads from `one` to itself, from `one` to `two`, and from `two` to itself."""
        seen: set[tuple[int, ...]] = set()
        waiting: list[tuple[int, ...]] = [(one, one, two)]
        while waiting:
            for step in self.steps(waiting.pop()):
                if step == (one, two, two):
                    return True
                a, b, c = step
                back = (a == one or one in reached[a]) and (b == two or two in reached[b])
                if back and (c == two or two in reached[c]) and step not in seen:
                    seen.add(step)
                    waiting.append(step)
        return False

    def steps(self, states: tuple[int, ...]) -> list[Any]:
        """Where the states get by the same character."""
        found: list[tuple[tuple[int, ...], int]] = [((), ALL)]
        for state in states:
            found = [
                ((*chosen, follower), mask & union)
                for chosen, mask in found
                for follower, masks in self.edges[state].items()
                if mask & (union := _union(masks))
            ]
        return [chosen for chosen, _ in found]


def _union(masks: list[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _meet(masks: list[int]) -> bool:
    return any(one & two for index, one in enumerate(masks) for two in masks[index + 1 :])


def require_linear(items: Any, flags: int) -> None:
    automaton = _Automaton(flags)
    automaton.sequence(items)
    why = automaton.why_not_linear()
    if why is not None:
        raise UnknownElementError(why)


def why_not_linear(pattern: re.Pattern[Any], *, searches: bool = False) -> str | None:
    """Returns None if each character of a text is looked at a fixed number of times at most.

    `searches`: a match may begin anywhere, as in `search`, `sub` or `finditer`.
    """
    try:
        automaton = _Automaton(pattern.flags)
        whole = automaton.sequence(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
        if searches:
            anywhere = automaton.loop(False, automaton.place(ALL), is_optional=True)
            automaton.then(anywhere, whole)
    except UnknownElementError as error:
        return str(error)
    return automaton.why_not_linear()
