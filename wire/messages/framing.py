"""Kafka's framing: every message is an int32 length and that many bytes. Sans I/O."""

MAX_FRAME_BYTES = 100 * 1024 * 1024
"""The default of the broker's ``socket.request.max.bytes``; a longer frame is invalid, or another protocol."""

LENGTH_BYTES = 4


class BadFrame(Exception):
    """The length of a frame is negative or beyond the bound; `head` contains it and the bytes after it so far."""

    def __init__(self, length: int, head: bytes) -> None:
        super().__init__(f"a frame of {length} bytes is announced")
        self.length = length
        self.head = head


def frame(message: bytes | bytearray) -> bytes:
    """`message` after its length."""
    return len(message).to_bytes(LENGTH_BYTES, "big") + message


class FrameReader:
    __slots__ = ("_buffer", "_max_bytes")

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._buffer = bytearray()
        self._max_bytes = max_bytes

    @property
    def partial(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """Add `data` and return every complete frame, without its length. Raises BadFrame: a length out of bounds."""
        self._buffer += data
        frames = []
        position = 0
        while len(self._buffer) - position >= LENGTH_BYTES:
            start = position + LENGTH_BYTES
            length = int.from_bytes(self._buffer[position:start], "big", signed=True)
            if not 0 <= length <= self._max_bytes:
                raise BadFrame(length, bytes(self._buffer[position:]))
            if len(self._buffer) < start + length:
                break
            with memoryview(self._buffer) as view:  # a slice of the buffer would be copied twice
                frames.append(bytes(view[start : start + length]))
            position = start + length
        del self._buffer[:position]
        return frames
