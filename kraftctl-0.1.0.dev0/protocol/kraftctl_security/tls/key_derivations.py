"""Bounds the work of deriving keys from passwords before it begins: a file may ask for hours of it.

PKCS8 and PKCS12 say in clear how often a hash is repeated (PBKDF2, PKCS12's own), and how much memory scrypt
takes. Everything that is not encrypted is looked at, as Java and OpenSSL write it: DER, or BER with lengths
that are not known in advance. What is inside something encrypted is seen when that is opened only.
"""

from __future__ import annotations

from typing import Final

ITERATIONS_MAX: Final = 5_000_000
"""The limit of one key, as in Java (PKCS12KeyStore.MAX_ITERATION_COUNT): about one second."""

ITERATIONS_TOTAL_MAX: Final = 10_000_000

SCRYPT_BYTES_MAX: Final = 32 * 1024 * 1024
"""The limit of OpenSSL, SCRYPT_MAX_MEM."""

SCRYPT_ITERATIONS: Final = 2
"""The iterations of PBKDF2 that take the time of one block of scrypt."""

ELEMENTS_MAX: Final = 100_000
DEPTH_MAX: Final = 24
"""Keys and certificates have half of that."""

KEY_BYTES: Final = 64
"""The length of the longest key that a cipher takes, and the shortest that counts as two."""


INTEGER: Final = 0x02
OCTET_STRING: Final = 0x04
OBJECT_IDENTIFIER: Final = 0x06
SEQUENCE: Final = 0x30
CONSTRUCTED: Final = 0x20
HIGH_TAG: Final = 0x1F
INDEFINITE: Final = 0x80

MAC_DATA: Final = [SEQUENCE & ~CONSTRUCTED, OCTET_STRING, INTEGER]

PKCS5: Final = bytes.fromhex("2a864886f70d0105")
PKCS12_PBE: Final = bytes.fromhex("2a864886f70d010c01")
PBES2: Final = PKCS5 + b"\x0d"
PBMAC1: Final = PKCS5 + b"\x0e"
SCRYPT: Final = bytes.fromhex("2b06010401da47040b")


class ExcessiveDerivationError(Exception):
    """A key that takes too much time or memory to derive; the text says how much."""


class _NotBerError(Exception):
    """Bytes that are no element: a damaged file, or a text within one."""


class _Element:
    """An element of BER. `content` is that of a primitive one, `inner` has the parts of any other."""

    def __init__(self, tag: int, content: bytes, inner: list[_Element]) -> None:
        self.tag = tag
        self.content = content
        self.inner = inner


def check_derivations(data: bytes) -> None:
    """Raises ExcessiveDerivationError when `data`, a PKCS8 or PKCS12 in DER or BER, asks for too much.

    Bytes that are neither pass: who decodes them says what is wrong.
    """
    check = _Check()
    try:
        element, _ = check.element(data, 0, DEPTH_MAX)
    except _NotBerError:
        return
    check.visit(element, DEPTH_MAX)


class _Check:
    """The elements and the iterations that are left of the limits of one file."""

    def __init__(self) -> None:
        self._elements = ELEMENTS_MAX
        self._iterations = ITERATIONS_TOTAL_MAX

    def element(self, data: bytes, start: int, depth: int) -> tuple[_Element, int]:
        """Returns the element that begins at `start`, and where it ends."""
        self._elements -= 1
        if self._elements < 0:
            raise ExcessiveDerivationError(f"it has more than {ELEMENTS_MAX:,} parts")
        tag, length, position = _header(data, start)
        if depth == 0:
            raise ExcessiveDerivationError(f"its parts are nested more than {DEPTH_MAX} deep")
        if length is None:
            return self._until_end(tag, data, position, depth)
        end = position + length
        if not tag & CONSTRUCTED:
            return _Element(tag, data[position:end], []), end
        inner: list[_Element] = []
        while position < end:
            part, position = self.element(data, position, depth - 1)
            inner.append(part)
        if position != end:
            raise _NotBerError
        return _Element(tag, b"", inner), end

    def _until_end(self, tag: int, data: bytes, position: int, depth: int) -> tuple[_Element, int]:
        inner: list[_Element] = []
        while data[position : position + 2] != b"\0\0":
            part, position = self.element(data, position, depth - 1)
            inner.append(part)
        return _Element(tag, b"", inner), position + 2

    def visit(self, element: _Element, depth: int) -> None:
        """Charges what the element and all within it ask for."""
        inner = element.inner
        if element.tag == SEQUENCE and inner:
            self._charge_algorithm(inner)
            self._charge_mac(inner)
        for each in inner:
            self.visit(each, depth)
        if element.tag & ~CONSTRUCTED == OCTET_STRING and depth > 0:
            self._visit_octets(_octets(element), depth - 1)

    def _visit_octets(self, octets: bytes, depth: int) -> None:
        """PKCS12 has its parts within strings of bytes."""
        try:
            found, _ = self.element(octets, 0, depth)
        except _NotBerError:
            return
        self.visit(found, depth)

    def _charge_algorithm(self, inner: list[_Element]) -> None:
        if inner[0].tag != OBJECT_IDENTIFIER or len(inner) < 2 or inner[1].tag != SEQUENCE:
            return
        name, parameters = inner[0].content, inner[1].inner
        numbers = [_integer(each) for each in parameters if each.tag == INTEGER]
        if name == SCRYPT:
            self._charge_scrypt(numbers)
        elif name.startswith((PKCS5, PKCS12_PBE)) and name not in (PBES2, PBMAC1) and numbers:
            self._charge(numbers[0] * _keys(numbers[1:]))

    def _charge_mac(self, inner: list[_Element]) -> None:
        """Charges PKCS12's MacData: a digest with its algorithm, a salt, and the iterations."""
        if [each.tag & ~CONSTRUCTED for each in inner] != MAC_DATA:
            return
        digest = inner[0].inner
        if len(digest) == 2 and digest[0].tag == SEQUENCE:
            self._charge(_integer(inner[2]))

    def _charge_scrypt(self, numbers: list[int]) -> None:
        if len(numbers) < 3:
            return
        cost, size, parallel = numbers[:3]
        if 128 * size * (cost + parallel) > SCRYPT_BYTES_MAX:
            raise ExcessiveDerivationError(
                f"its key takes more than {SCRYPT_BYTES_MAX:,} bytes of memory to derive (scrypt, N={cost:,},"
                f" r={size:,}, p={parallel:,})"
            )
        self._charge(SCRYPT_ITERATIONS * cost * size * parallel * _keys(numbers[3:]))

    def _charge(self, iterations: int) -> None:
        self._iterations -= max(iterations, 0)
        if iterations > ITERATIONS_MAX:
            raise ExcessiveDerivationError(
                f"a key takes {_shown(iterations)} iterations to derive, and {ITERATIONS_MAX:,} are allowed"
            )
        if self._iterations < 0:
            raise ExcessiveDerivationError(
                f"its keys take more than {ITERATIONS_TOTAL_MAX:,} iterations to derive"
            )


def _header(data: bytes, start: int) -> tuple[int, int | None, int]:
    """Returns the tag, the length, None if it is not known in advance, and where the content begins."""
    try:
        tag, position = data[start], start + 1
        if tag & HIGH_TAG == HIGH_TAG:
            while data[position] & 0x80:
                position += 1
            position += 1
        length, position = data[position], position + 1
    except IndexError:
        raise _NotBerError from None
    if length == INDEFINITE:
        if not tag & CONSTRUCTED:
            raise _NotBerError
        return tag, None, position
    if length > INDEFINITE:
        count = length - INDEFINITE
        length = int.from_bytes(data[position : position + count], "big")
        position += count
    if position + length > len(data):
        raise _NotBerError
    return tag, length, position


def _octets(element: _Element) -> bytes:
    """Returns a string of bytes, which BER may have in pieces."""
    if not element.inner:
        return element.content
    return b"".join(_octets(each) for each in element.inner)


def _keys(lengths: list[int]) -> int:
    """Returns how many derivations a key of this length takes; it may be left out."""
    return 1 + max(lengths[0], 0) // KEY_BYTES if lengths else 1


def _integer(element: _Element) -> int:
    """Returns a number; one of more than eight bytes is as good as the largest."""
    content = element.content
    if len(content) > 8 and content.strip(b"\0") != b"":
        return 1 << 63
    return int.from_bytes(content, "big", signed=True)


def _shown(number: int) -> str:
    return f"{number:,}" if number < 1 << 63 else "more than 10^18"
