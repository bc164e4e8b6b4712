"""The stubs of the layouts are up to date."""

from pathlib import Path

from tests.wire.messages.message_types import FOLDER, stubs


def test_the_types_of_messages_are_those_of_the_layouts(tmp_path: Path) -> None:
    stubs(tmp_path)
    written, expected = (
        {path.name: path.read_text() for path in folder.glob("*.pyi")} for folder in (FOLDER, tmp_path)
    )
    assert written == expected, "run python -m tests.wire.messages.message_types"
