"""A file in memory, and the batches that blocks of it give."""

from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.sources.blocks import Block, Damage


@dataclass(slots=True)
class MemoryFile:
    """Bytes that are read in ranges; `most` is the longest range that was asked for."""

    data: bytes
    most: int = 0

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """As a file does it."""
        self.most = max(self.most, nbytes)
        return self.data[offset : offset + nbytes]


def places(found: Iterable[Block | Damage]) -> tuple[list[int], list[tuple[int, str]]]:
    """Where batches start, and the damage between them, by the bytes of the file."""
    batches: list[int] = []
    damage: list[tuple[int, str]] = []
    for each in found:
        if isinstance(each, Block):
            batches += (each.batches.positions + each.base).tolist()
        else:
            damage.append((each.position, each.reason))
    return batches, damage
