"""A directory of plans, a file for each group: `kohort plan --output-dir` writes it, `kohort migrate` reads it."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from urllib.parse import quote

from cli.errors import CommandError, UsageError
from cli.output import render, write_file
from cli.progress import each_shown
from cli.render.document import Document
from cli.render.output_format import OutputFormat
from cli.verbs.plan.files import read_plan
from groups.yaml_files import TreeError, load_tree, read_text
from migration.gate.notes import SUFFIX as NOTES_SUFFIX
from migration.gate.notes import NotesError, notes_from_data
from migration.model import Plan
from migration.plan_file import plan_to_data

SUFFIX = ".yaml"
MOST_REASONS = 3  # In an error
LONGEST = 200  # Bytes of a name; what a run keeps next to the file has a longer one, and 255 is the most


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPlan:
    plan: Plan
    file: Path


def check_directory(directory: Path, groups: Sequence[str]) -> None:
    """Create it. Raises UsageError: a file that is there is no plan of its group, or its plan is being carried out.
    Raises CommandError: it cannot be created."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{directory}: cannot be created: {error.strerror or error}") from None
    names = file_names(groups)
    if reasons := [
        reason for group in groups for reason in _reasons_against(directory / names[group], group)
    ]:
        others = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
        raise UsageError(f"nothing was written: {'; '.join(reasons[:MOST_REASONS])}{others}")


def write_plans(directory: Path, plans: Sequence[Plan]) -> tuple[WrittenPlan, ...]:
    """A file of each plan, in place of an earlier one. Raises CommandError."""
    names = file_names([plan.group for plan in plans])
    files = {plan.group: directory / names[plan.group] for plan in plans}
    for plan in each_shown(plans, "writing plan"):
        text = StringIO()
        render(Document(command="plan", data=plan_to_data(plan), blocks=[]), OutputFormat.YAML, text)
        write_file(files[plan.group], [text.getvalue()])
    return tuple(WrittenPlan(plan=plan, file=files[plan.group]) for plan in plans)


def file_names(groups: Sequence[str]) -> Mapping[str, str]:
    """The name of each group's file: the group id with other characters than letters, digits, `.`, `_` and `-` as in
    URLs. One that is too long, or differs from another only in upper and lower case, ends with a hash."""
    stems = {group: _stem(group) for group in groups}
    alike = Counter(stem.casefold() for stem in stems.values())
    return {
        group: (stem if alike[stem.casefold()] == 1 else _hashed(stem, group)) + SUFFIX
        for group, stem in stems.items()
    }


def _stem(group: str) -> str:
    stem = quote(group, safe="").replace("~", "%7E")
    if stem.startswith((".", "-")):  # a hidden file, or an option of whatever gets the name
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    return stem if len(stem) <= LONGEST else _hashed(stem, group)


def _hashed(stem: str, group: str) -> str:
    return f"{stem[:LONGEST]}~{hashlib.sha256(group.encode()).hexdigest()[:12]}"


def _reasons_against(file: Path, group: str) -> Iterator[str]:
    if not file.exists():
        return
    try:
        former = read_plan(file)
    except (CommandError, UsageError):
        yield f"{file} exists, and cannot be read as a plan"
        return
    if former.group != group:
        yield f"{file} has the plan of {former.group}, not of {group}"
    elif notes := _notes_in_use(file, former):
        yield f"{file} is being carried out; finish it, name another directory, or remove {notes} to give it up"


def _notes_in_use(file: Path, plan: Plan) -> Path | None:
    """The notes of a plan's gates, if some have opened and others not."""
    notes = file.with_name(file.name + NOTES_SUFFIX)
    try:
        opened = notes_from_data(load_tree(notes, read_text(notes)), plan).opened
    except (TreeError, NotesError):  # there are none, or of another plan
        return None
    return notes if opened and len(plan.steps) not in opened else None
