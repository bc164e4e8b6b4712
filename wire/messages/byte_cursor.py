"""Reading Kafka's older (not flexible) types from bytes nobody vouches for."""

import struct

from wire.java_text import JAVA

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")


class MalformedMetadata(ValueError):
    """The bytes are not what they should be; the message says what was expected and at which byte.

    Callers add the group and the member.
    """


class ByteCursor:
    """Reads one value after another. `what` names the value in the `MalformedMetadata` that every method raises.

    An announced length is checked against the bytes left before anything is made of it.
    """

    __slots__ = ("_data", "_end", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        self._end = len(data)

    def int16(self, what: str) -> int:
        """A signed 16-bit number."""
        return int(_INT16.unpack_from(self._data, self._advance(2, what))[0])

    def int32(self, what: str) -> int:
        """A signed 32-bit number."""
        return int(_INT32.unpack_from(self._data, self._advance(4, what))[0])

    def string(self, what: str) -> str:
        """A string; broken UTF-8 is replaced, as Java does."""
        start = self._position + 2
        if start > self._end:
            raise self._cut(2, what)
        end = start + _INT16.unpack_from(self._data, self._position)[0]
        if not start <= end <= self._end:
            raise self._lying(end - start, 2, what)
        self._position = end
        return self._data[start:end].decode(errors=JAVA)

    def nullable_string(self, what: str) -> str | None:
        """A string or, for a negative length, None."""
        if self._negative(2):
            self._advance(2, what)
            return None
        return self.string(what)

    def nullable_bytes(self, what: str) -> bytes | None:
        """Bytes or, for a negative length, None."""
        length = self.int32(what)
        if length < 0:
            return None
        if length > self._end - self._position:
            self._position -= 4
            raise self._lying(length, 4, what)
        start = self._advance(length, what)
        return self._data[start : self._position]

    def strings(self, what: str) -> tuple[str, ...]:
        """An array of strings."""
        return tuple([self.string(what) for _ in range(self.array_length(what, smallest_element=2))])

    def int32s(self, what: str) -> tuple[int, ...]:
        """An array of 32-bit numbers."""
        length = self.array_length(what, smallest_element=4)
        return struct.unpack_from(f">{length}i", self._data, self._advance(4 * length, what))

    def array_length(self, what: str, *, smallest_element: int) -> int:
        """The length of an array whose elements take `smallest_element` bytes or more."""
        length = self.int32(what)
        if length < 0 or length * smallest_element > self._end - self._position:
            self._position -= 4
            raise self._lying(length, 4, what)
        return length

    def _advance(self, size: int, what: str) -> int:
        start = self._position
        if start + size > self._end:
            raise self._cut(size, what)
        self._position = start + size
        return start

    def _negative(self, size: int) -> bool:
        return self._position + size <= self._end and self._data[self._position] >= 0x80

    def _cut(self, size: int, what: str) -> MalformedMetadata:
        return MalformedMetadata(
            f"expected {what} at byte {self._position}: {size} bytes are needed, "
            f"{self._end - self._position} are left"
        )

    def _lying(self, length: int, size: int, what: str) -> MalformedMetadata:
        return MalformedMetadata(
            f"expected {what} at byte {self._position}: a length of {length} does not fit "
            f"the {self._end - self._position - size} bytes left"
        )
