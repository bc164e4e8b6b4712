"""Values of which a simulation creates hundreds of thousands, at a third of the usual time."""

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, **options: bool):
        """`dataclasses.dataclass` of values that nothing changes: mypy ensures it, and they are hashed as such. A class
        that Python freezes, too, sets each field through `object.__setattr__`."""
        return dataclasses.dataclass(unsafe_hash=frozen, **options)


made = tuple.__new__
"""A named tuple from a tuple of all of its fields: `made(Offset, (topic, …))`. Its own constructor calls this."""

__all__ = ["dataclass", "made"]
