"""Makes text that others have chosen harmless to those who read it: names, hosts, reasons, tokens.

A line end would begin a line of its own, an escape sequence command the terminal, and characters such as
U+202E turn the direction of what follows: a line would be read as it is not written.
"""

from __future__ import annotations


def escaped(text: str, keep: str = "") -> str:
    r"""Returns the text with `\x1b` or `\u202e` in place of what is not printable, but for a space.

    That is what Unicode calls control, format, private, unassigned, or a separator. `keep` has characters
    that stay.
    """
    if text.isprintable():
        return text
    return "".join([each if each.isprintable() or each in keep else _escape(each) for each in text])


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
