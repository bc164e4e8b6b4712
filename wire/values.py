"""Dataclasses of which a simulation creates hundreds of thousands: types are checked as if they were frozen, and they
are created three times as fast, since a frozen one sets each field through `object.__setattr__`."""

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, **options: bool):
        """`dataclasses.dataclass` of values that nothing changes: mypy ensures it, and they are hashed as such."""
        return dataclasses.dataclass(unsafe_hash=frozen, **options)


__all__ = ["dataclass"]
