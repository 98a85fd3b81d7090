"""Texts and lists by number: each distinct one is kept once, and a column of them is a column of integers."""

from __future__ import annotations

from itertools import count

import pyarrow as pa
import pyarrow.compute as pc

NUMBER = pa.int32()
_WIDTH = pa.scalar(4, pa.int32())
"""The bytes of a number, in the type of Arrow's offsets."""


class DistinctTexts:
    """Numbers count from 0 in the order in which the texts were met."""

    def __init__(self) -> None:
        self.values = pa.array([], pa.string())
        self._numbers: dict[str, int] = {}

    def numbers_of(self, column: pa.Array) -> pa.Array:
        """Returns the number of each row's text; a new text gets the next number. No row is null."""
        encoded = column.dictionary_encode()  # One that has a dictionary stays as it is.
        numbers = pa.array(map(self._numbers.get, found := encoded.dictionary.to_pylist()), NUMBER)
        if numbers.null_count:
            new = encoded.dictionary.filter(numbers.is_null())
            self._numbers.update(zip(new.to_pylist(), count(len(self.values))))
            self.values = pa.concat_arrays([self.values, new])
            numbers = pa.array(map(self._numbers.get, found), NUMBER)
        return numbers.take(encoded.indices)

    def number_of(self, text: str) -> int | None:
        """Returns None for one that has no number."""
        return self._numbers.get(text)

    def keep(self, used: pa.Array) -> pa.Array:
        """Forgets all but these numbers; returns the new number of each old one."""
        kept = self.values.take(used)
        self.values, self._numbers = self.values.slice(0, 0), {}
        self.numbers_of(kept)
        return _new_numbers(used)


class DistinctLists:
    """Numbers lists of integers. They are compared by their bytes: Python objects would cost ten times
    as much.
    """

    def __init__(self) -> None:
        self.values = pa.array([], pa.list_(pa.field("element", pa.int32())))
        self._numbers: dict[bytes, int] = {}

    def numbers_of(self, column: pa.Array) -> pa.Array:
        """Returns the number of each row's list, null for null; a new list gets the next number."""
        if column.null_count == len(column):
            return pa.nulls(len(column), NUMBER)
        encoded = _bytes_of(column.offsets, self._elements(column.values)).dictionary_encode()
        numbers = pa.array(map(self._numbers.get, found := encoded.dictionary.to_pylist()), NUMBER)
        if numbers.null_count:
            new = encoded.dictionary.filter(numbers.is_null())
            self._numbers.update(zip(new.to_pylist(), count(len(self.values))))
            self._add(new)
            numbers = pa.array(map(self._numbers.get, found), NUMBER)
        of_rows = numbers.take(encoded.indices)
        return pc.if_else(column.is_valid(), of_rows, None) if column.null_count else of_rows

    def number_of(self, one: list[int] | list[str]) -> int:
        """Returns the number of a list, also of a new one."""
        number: int = self.numbers_of(pa.array([one], self.values.type))[0].as_py()
        return number

    def keep(self, used: pa.Array) -> pa.Array:
        """Forgets all but these numbers; returns the new number of each old one."""
        kept = self.values.take(used)
        self.values, self._numbers = self.values.slice(0, 0), {}
        self.numbers_of(kept)
        return _new_numbers(used)

    def _elements(self, values: pa.Array) -> pa.Array:
        """Returns the elements whose bytes identify the lists."""
        return values

    def _add(self, new: pa.Array) -> None:
        """Adds new lists, given as bytes."""
        _, ends, held = new.buffers()
        offsets = pc.divide(pa.Array.from_buffers(pa.int32(), len(new) + 1, [None, ends]), _WIDTH)
        elements = pa.Array.from_buffers(NUMBER, offsets[-1].as_py(), [None, held or pa.py_buffer(b"")])
        self._add_lists(pa.ListArray.from_arrays(offsets, elements))

    def _add_lists(self, lists: pa.Array) -> None:
        self.values = pa.concat_arrays([self.values, lists.cast(self.values.type)])


class DistinctTextLists(DistinctLists):
    """Numbers lists of texts, which have numbers themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.values = pa.array([], pa.list_(pa.field("element", pa.string())))
        self._texts = DistinctTexts()

    def _elements(self, values: pa.Array) -> pa.Array:
        return self._texts.numbers_of(values)

    def _add_lists(self, lists: pa.Array) -> None:
        super()._add_lists(pa.ListArray.from_arrays(lists.offsets, self._texts.values.take(lists.values)))


def _bytes_of(offsets: pa.Array, elements: pa.Array) -> pa.Array:
    """Returns the lists as byte strings, without a copy of their elements."""
    places = pc.multiply_checked(pc.add(offsets, pa.scalar(elements.offset, pa.int32())), _WIDTH)
    held = elements.buffers()[1] or pa.py_buffer(b"")
    found = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, places.buffers()[1], held])
    found.validate()
    return found


def _new_numbers(used: pa.Array) -> pa.Array:
    """Returns new numbers by old one, null for those that are not used."""
    highest = pc.max(used).as_py()
    count = 0 if highest is None else highest + 1
    return pc.index_in(pa.array(range(count), NUMBER), value_set=used)
