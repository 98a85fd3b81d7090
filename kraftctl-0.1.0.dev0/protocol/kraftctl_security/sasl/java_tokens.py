"""Cuts a JAAS configuration into tokens as Java's StreamTokenizer does with the settings of both JAAS
parsers.

A few rules are unexpected: a word may not begin with a digit, `/` begins a comment, a quoted text ends with
its line.
"""

from __future__ import annotations

from typing import Final

WORD: Final = "word"
NUMBER: Final = "number"
END: Final = "end"
DOUBLE_QUOTED: Final = '"'
SINGLE_QUOTED: Final = "'"

_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LINE_ENDS: Final = ("\n", "\r", "")
_OCTAL: Final = "01234567"
_DIGITS: Final = "0123456789"
_BEYOND_END: Final = "\uffff"
"""Java takes a backslash at the end of the text for this."""


class Token:
    """`kind` is one of the constants above, or the character itself; only words and quoted texts have a text.

    `line` counts from 1.
    """

    def __init__(self, kind: str, text: str | None, line: int) -> None:
        self.kind = kind
        self.text = text
        self.line = line


def tokens(text: str, word_characters: str) -> list[Token]:
    """Returns all tokens of `text`, the last of them END. `word_characters` are added to Java's own."""
    tokenizer = _Tokenizer(text, word_characters)
    found: list[Token] = []
    while not found or found[-1].kind != END:
        token = tokenizer.next()
        if token is not None:
            found.append(token)
    return found


class _Tokenizer:
    def __init__(self, text: str, word_characters: str) -> None:
        self._text = text
        self._word_characters = word_characters
        self._position = 0
        self._line = 1
        self._counted = 0

    def next(self) -> Token | None:
        """Returns None after a comment."""
        while self._peek() and self._peek() <= " ":
            self._position += 1
        self._count_lines()
        character = self._peek()
        if character == "":
            return self._token(END)
        if character in _DIGITS or character in "-.":
            return self._number()
        if self._in_word(character):
            return self._word()
        self._position += 1
        if character in (DOUBLE_QUOTED, SINGLE_QUOTED):
            return self._quoted(character)
        if character == "/":
            return self._comment()
        return self._token(character)

    def _token(self, kind: str, text: str | None = None) -> Token:
        return Token(kind, text, self._line)

    def _count_lines(self) -> None:
        self._line += self._text.count("\n", self._counted, self._position)
        self._counted = self._position

    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]

    def _read(self) -> str:
        """Returns the next character; at the end the empty text, each time."""
        character = self._peek()
        self._position += 1
        return character

    def _in_word(self, character: str) -> bool:
        return (
            "a" <= character <= "z"
            or "A" <= character <= "Z"
            or character >= "\xa0"
            or (character != "" and character in self._word_characters)
        )

    def _word(self) -> Token:
        begin = self._position
        while self._in_word(self._peek()) or (self._peek() != "" and self._peek() in "0123456789.-"):
            self._position += 1
        return self._token(WORD, self._text[begin : self._position])

    def _number(self) -> Token:
        if self._peek() == "-":
            self._position += 1
            if self._peek() == "" or self._peek() not in "0123456789.":
                return self._token("-")
        seen_dot = False
        while self._peek() != "" and (self._peek() in _DIGITS or (self._peek() == "." and not seen_dot)):
            seen_dot = seen_dot or self._peek() == "."
            self._position += 1
        return self._token(NUMBER)

    def _quoted(self, quote: str) -> Token:
        found: list[str] = []
        character = self._read()
        while character != quote and character not in _LINE_ENDS:
            found.append(self._escaped() if character == "\\" else character)
            character = self._read()
        if character != quote:
            self._position -= 1
        return self._token(quote, "".join(found))

    def _escaped(self) -> str:
        first = self._read()
        if first == "":
            return _BEYOND_END
        if first not in _OCTAL:
            return _ESCAPES.get(first, first)
        digits = first
        while len(digits) < (3 if first <= "3" else 2) and self._peek() != "" and self._peek() in _OCTAL:
            digits += self._read()
        return chr(int(digits, 8))

    def _comment(self) -> Token | None:
        """Skips a comment, after its first slash."""
        second = self._read()
        if second == "*":
            return self._block_comment()
        # Java reads on from the character after the slash, even when that one ends the line.
        while self._peek() not in _LINE_ENDS:
            self._position += 1
        return None

    def _block_comment(self) -> Token | None:
        before = ""
        character = self._read()
        while character != "/" or before != "*":
            # Java does not look at a slash that begins a line.
            if character == "\r":
                character = self._read()
                if character == "\n":
                    character = self._read()
            elif character == "\n":
                character = self._read()
            if character == "":
                return self._token(END)
            before = character
            character = self._read()
        return None
