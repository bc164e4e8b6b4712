"""A file in memory, and the batches that blocks of it give."""

from collections.abc import Iterable
from dataclasses import dataclass

from wire.log.blocks import Block, Damage


@dataclass(slots=True)
class MemoryFile:
    """Bytes that are read in ranges; `most` is the longest range that was asked for."""

    data: bytes
    most: int = 0

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self.most = max(self.most, nbytes)
        return self.data[offset : offset + nbytes]


def places(parts: Iterable[Block | Damage]) -> tuple[list[int], list[tuple[int, str]]]:
    """Where batches start, and the damage between them, by the bytes of the file."""
    batches: list[int] = []
    damage: list[tuple[int, str]] = []
    for part in parts:
        if isinstance(part, Block):
            batches += (part.batches.positions + part.base).tolist()
        else:
            damage.append((part.position, part.reason))
    return batches, damage
