"""Recorded results of `kohort fleet`: `KOHORT_WRITE_GOLDEN=1` writes them again."""

import os
from collections.abc import Iterable
from pathlib import Path

GOLDEN = Path(__file__).parents[3] / "golden" / "fleet"


def check_recorded(name: str, lines: Iterable[str]) -> None:
    """Compare lines with those of a file."""
    text, file = "".join(f"{line}\n" for line in lines), GOLDEN / name
    if os.environ.get("KOHORT_WRITE_GOLDEN") == "1":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()
