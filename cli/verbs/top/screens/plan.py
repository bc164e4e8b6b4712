"""The plan of a group's migration: what `kohort plan` prints; of one in a file, what `kohort gate` prints."""

from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from cli.errors import CommandError
from cli.findings import finding_item
from cli.output import write_file
from cli.render.document import Block
from cli.verbs.plan.blocks import step_blocks
from cli.verbs.plan.directory import file_names
from cli.verbs.plan.files import read_plan
from cli.verbs.top.running import output_of
from cli.verbs.top.screens.line import LineScreen
from cli.verbs.top.screens.output import OutputScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.words import KohortCommand, view

SUFFIX = ".plan.yaml"


def file_of(group: str) -> Path:
    """Where the plan of a group is kept if the user names no file: `billing.plan.yaml` in this directory."""
    return Path(Path(file_names([group])[group]).stem + SUFFIX)


class PlanScreen(OutputScreen):
    """`words`: the plan's file, or options of `kohort plan`. Without any it is the file that is named after the group
    in this directory; without such a file, a plan to the consumer protocol. Raises ValueError: what is on screen has
    no such plan."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "steps", "Steps", tooltip="Its steps and findings"),
        Binding("i", "gate", "Record gate", tooltip="Check the gate, and record it"),
        Binding("W", "write", "Write file", tooltip="Write it to a file, for its gates"),
        Binding("u", "rehearse", "Rehearse", tooltip="Rehearse it, simulated"),
        Binding("P", "plan", "Other plan", tooltip="Other protocol or clients"),
    ]

    def __init__(self, group: str, *words: str) -> None:
        if not words and not self.app.is_web and file_of(group).exists():
            words = (str(file_of(group)),)
        self.group = group
        self._file = Path(words[0]) if words and not words[0].startswith("-") else None
        options = () if self._file is not None else words
        self._plan = view("plan", group, *(() if "--to" in options else ("--to", "consumer")), *options)
        self._checked: object = None  # What the group was when its gate was checked
        command = (
            self._plan if self._file is None else self._of_file("gate", "--no-notes", f"--group={group}")
        )
        super().__init__(self.app.located(command))

    def _of_file(self, name: str, *options: str) -> KohortCommand:
        return KohortCommand(words=(name, str(self._file), *options))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action == "write":
            return self._file is None and not self.app.is_read_only and not self.app.is_web
        return action not in ("steps", "gate") or self._file is not None

    def on_screen_resume(self) -> None:
        self.app.focus_on(Focus(opened=self.group, others=False))
        self.show_sight(self.app.sight)

    def start(self, command: KohortCommand, *, quietly: bool = False) -> None:
        self._checked = self._state(self.app.sight)
        super().start(command, quietly=quietly)

    def show_sight(self, sight: Sight) -> None:
        """Check the gate again if the group has changed."""
        if self._file is not None and self.status is not None and self._state(sight) != self._checked:
            self.start(self.command, quietly=True)

    def _state(self, sight: Sight) -> object:
        seen = sight.groups.get(self.group)
        group = seen and seen.polled.group
        return group and (group.state, group.protocol, group.group_epoch, group.members)

    def ended(self, before: int | None) -> None:
        if self._file is not None and before and self.status == 0:
            self.app.bell()
        if self.is_current:
            self.show_sight(self.app.sight)

    def action_steps(self) -> None:
        try:
            plan = read_plan(self._file or file_of(self.group))
        except CommandError:
            return  # The gate reports it
        blocks: list[Block] = [finding_item(finding, source=finding.source) for finding in plan.findings]
        for number, step in enumerate(plan.steps, 1):
            blocks += step_blocks(plan, number, step)
        self.app.show_blocks(f"plan {self.group}: steps and findings", blocks)

    def action_gate(self) -> None:
        self._checked = ()  # It is shown again with the step after a gate that opens
        self.app.run_command(self._of_file("gate", *(("--no-notes",) if self.app.is_read_only else ())))

    def action_rehearse(self) -> None:
        rehearsal = self._plan.with_options("--rehearse") if self._file is None else self._of_file("rehearse")
        self.app.run_command(rehearsal.with_options("--seeds", "10"))

    def action_plan(self) -> None:
        """Another plan: to another protocol, of other clients, or from another file."""
        self.app.type_command(self._plan.text.removeprefix("kohort "))

    def action_write(self) -> None:
        title, keys = "Write the plan to a new file", "Enter writes it, Esc leaves"
        line = LineScreen(title, keys, _new_file, text=str(file_of(self.group)))
        self.app.push_screen(line, self._written)

    def _written(self, file: Path | None) -> None:
        if file is not None:
            self.run_worker(self._write(file))

    async def _write(self, file: Path) -> None:
        """Write the plan, and show its gate instead."""
        status, text, notices = await output_of(self.command.with_options("--output", "yaml"))
        try:
            if not text:
                raise CommandError(notices.strip() or f"exit status {status} of {self.command.text}")
            write_file(file, [text], new=True)
        except CommandError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.notify(f"written to {file}")
            if self.is_current:
                self.app.switch_screen(PlanScreen(self.group, str(file)))


def _new_file(name: str) -> Path:
    """ValueError: it exists."""
    if Path(name).exists():
        raise ValueError(f"{name} exists: name another file")
    return Path(name)
