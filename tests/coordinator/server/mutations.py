"""Mutations of well-formed requests: frames without their length, whose API stays the same."""

from collections.abc import Callable, Sequence
from random import Random

HEADER = 8  # API key, version and correlation id
KEY = 2
NUMBERS = (
    b"\xff\xff",
    b"\x7f\xff",
    b"\x80\0",
    bytes(4),
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff\x0f",
)
LONGEST = 4_000


def mutated(frames: Sequence[bytes], chance: Random) -> bytes:
    content = bytearray(chance.choice(frames)[:LONGEST])
    for _ in range(chance.choice((1, 1, 2, 4))):
        chance.choice(CHANGES)(content, frames, chance)
    return bytes(content)


def _place(content: bytearray, chance: Random) -> int:
    """A position, mostly in the body, and more often near its start, which determines how the rest is read."""
    first = KEY if chance.random() < 0.02 else HEADER
    last = max(first + 1, len(content))
    return chance.randrange(first, min(last, first + 64) if chance.random() < 0.5 else last)


def _flip(content: bytearray, _: Sequence[bytes], chance: Random) -> None:
    index = _place(content, chance)
    content[index : index + 1] = bytes([chance.choice((0, 1, 2, 0x7F, 0x80, 0xFF, chance.randrange(256)))])


def _number(content: bytearray, _: Sequence[bytes], chance: Random) -> None:
    index, number = _place(content, chance), chance.choice(NUMBERS)
    content[index : index + len(number)] = number


def _insert(content: bytearray, _: Sequence[bytes], chance: Random) -> None:
    index = _place(content, chance)
    content[index:index] = chance.randbytes(chance.randrange(1, 20))


def _delete(content: bytearray, _: Sequence[bytes], chance: Random) -> None:
    index = _place(content, chance)
    del content[index : index + chance.randrange(1, 20)]


def _repeat(content: bytearray, _: Sequence[bytes], chance: Random) -> None:
    index = _place(content, chance)
    content[index:index] = content[index : index + chance.randrange(1, 40)] * chance.randrange(1, 4)


def _cut(content: bytearray, _: Sequence[bytes], chance: Random) -> None:
    del content[_place(content, chance) :]


def _splice(content: bytearray, frames: Sequence[bytes], chance: Random) -> None:
    other = chance.choice(frames)
    content[_place(content, chance) :] = other[chance.randrange(HEADER, max(HEADER + 1, len(other))) :][
        :LONGEST
    ]


CHANGES: Sequence[Callable[[bytearray, Sequence[bytes], Random], None]] = (
    _flip,
    _flip,
    _number,
    _insert,
    _delete,
    _repeat,
    _cut,
    _splice,
)
