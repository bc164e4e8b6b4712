"""The file that `--from-file` names: what a `--export` printed, for one group or with groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cli.dropin.errors import ToolFailure
from groups.offsets.model import Place
from groups.offsets.offsets_csv import MalformedOffsets, read_offsets
from wire.java_text import JAVA


def read_plan(path: Path, groups: tuple[str, ...]) -> Mapping[str, Mapping[Place, int]]:
    """Offsets by group; `groups` as often as `--group` was given. Of a partition that comes twice the last counts.

    A file without groups is for a command line with one `--group`; on another the tool finds no plan in it.
    :raises ToolFailure: it cannot be read, or a line of it is no offset
    """
    try:
        text = path.read_bytes().decode("utf-8", JAVA)
    except (OSError, ValueError) as error:
        said = f"java.io.IOException: Unable to read file {path}"
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolFailure(said, reason=f"{path}: {why}") from None
    try:
        file = read_offsets(text, last_wins=True)
    except MalformedOffsets as error:
        raise ToolFailure(f"{path}, {error}") from None
    if file.by_group is not None:
        return file.by_group
    if not file.of_one_group:
        raise ToolFailure(f"{path}: holds no offsets")
    return {groups[0]: file.of_one_group} if len(groups) == 1 else {}
