"""The subject of a certificate as Java's X500Principal.getName() shows it: RFC 2253, which ACLs are written
in.

It is read from the bytes of the certificate, because Java's text depends on the type of each string, and on
how a value without a well-known keyword is encoded. TLS has verified the certificate before.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.primitives import DecodeError

INTEGER: Final = 0x02
OBJECT_IDENTIFIER: Final = 0x06
SEQUENCE: Final = 0x30
SET: Final = 0x31
EXPLICIT_VERSION: Final = 0xA0

STRINGS: Final = frozenset((0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E))
"""Java shows these types as text: UTF8String, PrintableString, T61String, IA5String, GeneralString,
BMPString."""

KEYWORDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
"""The keywords of RFC 2253. Values of other types are shown as bytes."""

SUBJECT_BYTES_MAX: Final = 1_024
SUBJECT_ATTRIBUTES_MAX: Final = 20
"""The limits of a client's subject, before the operator's rules are applied to it."""

ESCAPED: Final = frozenset(',=+<>#;"\\')

TAG_NUMBER_MASK: Final = 0x1F
LONG_FORM: Final = 0x80


class _Der:
    """Reads elements one after the other: tag, length, content. Raises DecodeError for other bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def more(self) -> bool:
        return self._position < len(self._data)

    def element(self) -> tuple[int, bytes, bytes]:
        """Returns tag, content, and the whole element."""
        data, start = self._data, self._position
        if start + 2 > len(data) or data[start] & TAG_NUMBER_MASK == TAG_NUMBER_MASK:
            raise DecodeError("a certificate that ends early, or has a tag of several bytes")
        length, position = data[start + 1], start + 2
        if length & LONG_FORM:
            count = length & ~LONG_FORM
            length = int.from_bytes(data[position : position + count], "big")
            position += count
        if position + length > len(data):
            raise DecodeError("an element that is longer than its certificate")
        self._position = position + length
        return data[start], data[position : position + length], data[start : position + length]

    def content(self, tag: int) -> bytes:
        """Returns the content of the next element, which must have this tag."""
        found, content, _ = self.element()
        if found != tag:
            raise DecodeError(f"a certificate with tag {found:#x} in place of {tag:#x}")
        return content


def subject_name(certificate: bytes) -> str:
    """Returns the subject of an X.509 certificate in DER; DecodeError when it cannot be read."""
    return _name(_subject(certificate))


def client_name(certificate: bytes) -> str:
    """Returns the same of a client's certificate; DecodeError also when it is too long for rules."""
    subject = _subject(certificate)
    if len(subject) > SUBJECT_BYTES_MAX:
        raise DecodeError(f"its subject has {len(subject):,} bytes, and {SUBJECT_BYTES_MAX:,} are allowed")
    count = _attributes_count(subject)
    if count > SUBJECT_ATTRIBUTES_MAX:
        raise DecodeError(f"its subject has {count} parts, and {SUBJECT_ATTRIBUTES_MAX} are allowed")
    return _name(subject)


def _subject(certificate: bytes) -> bytes:
    to_be_signed = _Der(_Der(_Der(certificate).content(SEQUENCE)).content(SEQUENCE))
    tag, _, _ = to_be_signed.element()
    if tag == EXPLICIT_VERSION:
        to_be_signed.content(INTEGER)
    for _ in ("signature algorithm", "issuer", "validity"):
        to_be_signed.content(SEQUENCE)
    return to_be_signed.content(SEQUENCE)


def _attributes_count(subject: bytes) -> int:
    count, names = 0, _Der(subject)
    while names.more:
        attributes = _Der(names.content(SET))
        while attributes.more:
            attributes.content(SEQUENCE)
            count += 1
    return count


def _name(content: bytes) -> str:
    """The last relative name comes first; attributes of one keep their order."""
    relative_names: list[str] = []
    names = _Der(content)
    while names.more:
        attributes = _Der(names.content(SET))
        parts: list[str] = []
        while attributes.more:
            parts.append(_attribute(_Der(attributes.content(SEQUENCE))))
        relative_names.append("+".join(parts))
    return ",".join(reversed(relative_names))


def _attribute(pair: _Der) -> str:
    kind = _dotted(pair.content(OBJECT_IDENTIFIER))
    tag, content, element = pair.element()
    keyword = KEYWORDS.get(kind)
    if keyword is None or tag not in STRINGS:
        return f"{keyword or kind}=#{element.hex()}"
    try:
        # Java, too, reads all kinds of strings as UTF-8.
        return f"{keyword}={_escaped(content.decode())}"
    except UnicodeDecodeError as error:
        raise DecodeError(f"a {keyword} that is not UTF-8") from error


def _escaped(value: str) -> str:
    text = "".join("\\" + each if each in ESCAPED else "\\00" if each == "\0" else each for each in value)
    inner = text.strip(" \r")
    if not inner:
        return "".join("\\" + each for each in text)
    lead = text.index(inner)
    trail = lead + len(inner)
    before, after = text[:lead], text[trail:]
    return "".join("\\" + each for each in before) + inner + "".join("\\" + each for each in after)


def _dotted(content: bytes) -> str:
    """Returns an object identifier as numbers with dots."""
    numbers: list[int] = []
    number = 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    if not numbers:
        raise DecodeError("an empty object identifier")
    first = min(numbers[0] // 40, 2)
    return ".".join(str(each) for each in (first, numbers[0] - 40 * first, *numbers[1:]))
