"""The notes of gates: a file beside the plan, `PLAN.yaml.gates`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cli.errors import CommandError
from cli.output import notice
from cli.verbs.plan.plan_files import read_text
from groups.yaml_files import TreeError, load_tree, replace_file, yaml_lines
from migration.gate.notes import Notes, NotesError, fingerprint, notes_from_data, notes_to_data
from migration.model import Plan

SUFFIX = ".gates"


@dataclass(slots=True)
class NotesFile:
    """The notes as they are; what cannot be read or written is said once and stops nothing."""

    file: Path
    notes: Notes
    is_written: bool

    @classmethod
    def beside(cls, plan_file: Path, plan: Plan, *, is_written: bool) -> NotesFile:
        """Of a plan; empty where there are none, or those of another plan."""
        file = plan_file.with_name(plan_file.name + SUFFIX)
        return cls(file, _read(file, plan), is_written)

    def keep(self, notes: Notes) -> None:
        """Write them where they changed; the old file stays until the new one is whole."""
        if notes == self.notes:
            return
        self.notes = notes
        if not self.is_written:
            return
        try:
            replace_file(self.file, "".join(yaml_lines(notes_to_data(notes))))
        except OSError as error:
            self.is_written = False
            notice(
                f"{self.file}: cannot be written: {error.strerror or error}. The gate of the next step will not know "
                "who was in the group when it began: keep the plan in a directory that can be written"
            )


def _read(file: Path, plan: Plan) -> Notes:
    empty = Notes(plan=fingerprint(plan))
    if not file.exists():
        return empty
    try:
        return notes_from_data(load_tree(file, read_text(file)), plan)
    except (CommandError, TreeError) as error:
        notice(f"{error}; not used")
    except NotesError as error:
        notice(f"{file}: {error}; not used")
    return empty
