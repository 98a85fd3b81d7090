"""Tagged fields of flexible versions (KIP-482): a count, then tag, size and value of each, by rising tags.

Generated code writes a value right behind its tag; the size, a byte as a rule, is filled in afterwards.
"""

from __future__ import annotations

from mypy_extensions import i64, u8

from kraftctl_protocol.primitives import EncodeError, Reader, Writer, write_uvarint


def begin_tags(out: Writer) -> i64:
    """Returns where the section begins: with the count, which `end_tags` fills in."""
    start: i64 = len(out)
    out.append(0)
    return start


def begin_tag(out: Writer, tag: i64) -> i64:
    """Returns where the value begins, for `end_tag`."""
    write_uvarint(out, tag)
    out.append(0)
    at: i64 = len(out)
    return at


def end_tag(out: Writer, at: i64) -> None:
    """Completes the value that began `at` by writing its size."""
    size: i64 = len(out) - at
    if size < 0x80:
        out[at - 1] = u8(size)
        return
    value = out.getvalue()[at:]
    out.truncate(at - 1)
    write_uvarint(out, size)
    out.write(value)


def end_tags(out: Writer, start: i64, count: i64, unknown: list[tuple[int, bytes]] | None) -> None:
    """Writes the number of fields, fewer than 128, into the section that began at `start`."""
    if unknown is None:
        out[start] = u8(count)
        return
    reader = Reader(out.getvalue(), start + 1)
    known: list[tuple[int, bytes]] = []
    while count > 0:
        count -= 1
        tag = reader.read_uvarint()
        size = reader.read_uvarint()
        known.append((tag, reader.read_raw(size)))
    out.truncate(start)
    write_tagged_fields(out, known, unknown)


def write_tagged_fields(
    out: Writer, known: list[tuple[int, bytes]], unknown: list[tuple[int, bytes]] | None
) -> None:
    """Appends the tagged section: both lists together in the order of their tags, each tag once."""
    fields = known if unknown is None else sorted(known + unknown)
    write_uvarint(out, len(fields))
    previous: i64 = -1
    for tag, value in fields:
        if tag <= previous:
            raise EncodeError(f"tag {tag} is there twice")
        previous = tag
        write_uvarint(out, tag)
        write_uvarint(out, len(value))
        out.write(value)
