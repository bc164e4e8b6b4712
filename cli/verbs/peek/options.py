"""Options of `kohort peek`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cli.options import option
from cli.verbs.peek.form import ShownAs


@dataclass(frozen=True, slots=True, kw_only=True)
class PeekOptions:
    """Which records to read, and how they are shown."""

    records: Annotated[
        int, option("--records", "Number of records from the offset on.", "N", min=1, max=10_000)
    ] = 1
    back: Annotated[int, option("--back", "Number of records before the offset.", "N", min=0, max=10_000)] = 0
    offset: Annotated[
        int | None, option("--offset", "Start here instead of at the committed offset.", "N", min=0)
    ] = None
    uncommitted: Annotated[
        bool, option("--uncommitted", "Also records of open and aborted transactions.")
    ] = False
    form: Annotated[ShownAs, option("--as", "How keys, values and headers are shown.")] = ShownAs.AUTO
    limit: Annotated[
        int, option("--limit", "Show at most this many bytes of each key or value.", "BYTES", min=0)
    ] = 4096
    raw: Annotated[Path | None, option("--raw", "Write the value, byte for byte, to a file.", "FILE")] = None
    raw_key: Annotated[
        Path | None, option("--raw-key", "Write the key, byte for byte, to a file.", "FILE")
    ] = None

    @property
    def files(self) -> dict[str, Path]:
        """The files to write, by part of the record."""
        named = {"key": self.raw_key, "value": self.raw}
        return {part: file for part, file in named.items() if file is not None}
