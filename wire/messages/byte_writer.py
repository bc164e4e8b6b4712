"""Writing Kafka's older (not flexible) types."""

import struct
from collections.abc import Sequence


class ByteWriter:
    """Collects bytes. Every method raises ValueError when the value does not fit."""

    __slots__ = ("_out",)

    def __init__(self) -> None:
        self._out = bytearray()

    def getvalue(self) -> bytes:
        """Everything written so far."""
        return bytes(self._out)

    def int16(self, value: int) -> None:
        """A signed 16-bit number."""
        self._pack(">h", value)

    def int32(self, value: int) -> None:
        """A signed 32-bit number."""
        self._pack(">i", value)

    def string(self, value: str) -> None:
        """A string of at most 32,767 bytes of UTF-8."""
        content = value.encode()
        self.int16(len(content))
        self._out += content

    def nullable_string(self, value: str | None) -> None:
        """A string, None as length -1."""
        if value is None:
            self.int16(-1)
        else:
            self.string(value)

    def nullable_bytes(self, value: bytes | None) -> None:
        """Bytes, None as length -1."""
        self.int32(-1 if value is None else len(value))
        self._out += value or b""

    def strings(self, values: Sequence[str]) -> None:
        """An array of strings."""
        self.int32(len(values))
        for value in values:
            self.string(value)

    def int32s(self, values: Sequence[int]) -> None:
        """An array of 32-bit numbers."""
        self.int32(len(values))
        self._pack(f">{len(values)}i", *values)

    def _pack(self, code: str, *values: int) -> None:
        try:
            self._out += struct.pack(code, *values)
        except struct.error as error:
            raise ValueError(f"a number does not fit: {error}") from None
