"""Recorded answers: KOHORT_WRITE_GOLDEN=1 writes them again; read the difference before you commit it."""

import os
from collections.abc import Mapping
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


def assert_recorded(name: str, answers: Mapping[str, str]) -> None:
    """Compare answers, each under its heading, with those in a file of tests/golden."""
    file = GOLDEN / name
    text = "\n".join(f"== {heading}\n{answer.rstrip()}\n" for heading, answer in answers.items())
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()
