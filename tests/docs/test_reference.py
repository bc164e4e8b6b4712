"""docs/reference.md is what the commands say of themselves; KOHORT_WRITE_GOLDEN=1 writes it anew."""

from __future__ import annotations

import os

from tests.cli.command import command_names
from tests.docs.pages import DOCS
from tests.docs.reference import reference

PAGE = DOCS / "reference.md"


def test_the_reference_is_current() -> None:
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        PAGE.write_text(reference())
    assert PAGE.read_text() == reference()


def test_every_command_has_its_section() -> None:
    told = reference()
    for name in command_names():
        assert f"\n## kohort {name}\n" in told
