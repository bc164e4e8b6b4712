"""The plan of a group's migration: made here or read from its file; its steps, and their gates as they open."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from cli.errors import CommandError, UsageError
from cli.findings import finding_item
from cli.output import write_file
from cli.render.cells import safe_text
from cli.render.color import text_lines
from cli.render.document import Block, Document
from cli.render.layout import document_lines
from cli.selection import is_live
from cli.verbs.plan.blocks import step_blocks
from cli.verbs.plan.files import read_plan
from cli.verbs.top.grid import Grid
from cli.verbs.top.plans import (
    PlanInSight,
    file_of,
    findings_table,
    notes_file,
    notes_of,
    steps_table,
)
from cli.verbs.top.running import output_of
from cli.verbs.top.screens.base import TableScreen
from cli.verbs.top.screens.line import LineScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable
from cli.verbs.top.words import KohortCommand, view
from groups.trees import Malformed
from groups.yaml_files import TreeError, load_tree
from migration.model import Plan
from migration.plan_file import plan_from_data

SEEDS = "10"


class PlanScreen(TableScreen):
    """`words`: the plan's file, or options of `kohort plan`. Without any it is the file that is named after the group
    in this directory; without such a file, a plan to the consumer protocol."""

    CSS = """
    #plan { height: auto; max-height: 4; padding: 0 1; }
    #gate { height: auto; max-height: 50%; padding: 0 1; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "findings", "Findings", tooltip="Findings, or steps"),
        Binding("i", "gate", "Gate", tooltip="Ask kohort gate, and record it"),
        Binding("u", "rehearse", "Rehearse", tooltip="Rehearse it, simulated"),
        Binding("W", "write", "Write file", tooltip="Write it to a file"),
        Binding("P", "plan", "Other plan", tooltip="Other protocol or clients"),
        Binding("r", "again", "Again", show=False),
    ]

    def __init__(self, group: str, *words: str) -> None:
        super().__init__()
        self.group = group
        is_file = bool(words) and not words[0].startswith("-")
        self._file: Path | None = Path(words[0]) if is_file else None
        self._options = () if is_file else words
        self._text = ""  # Of a plan that is not kept
        self._shown: PlanInSight | None = None
        self._problem = ""
        self._noted_ns = 0
        self._number = 0  # Of the gate that is awaited
        self._shows_findings = False

    def above(self) -> list[Widget]:
        return [Static(id="plan", markup=False)]

    def below(self) -> list[Widget]:
        return [Static(id="gate", markup=False)]

    def wanted(self) -> Focus:
        return Focus(opened=self.group, others=False)

    @property
    def title_parts(self) -> list[str]:
        return [f"plan {self.group}"]

    @property
    def number(self) -> int | None:
        """The step under the cursor."""
        return None if self.grid.key is None or self._shows_findings else int(self.grid.key)

    # The plan

    def on_mount(self) -> None:
        super().on_mount()
        self.action_again()

    def action_again(self) -> None:
        self._shown, self._problem = None, ""
        self.draw(self.app.sight)
        self.app.poller.refresh()
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        is_mine = not self.app.is_web  # In a browser, the files here are not the user's
        if self._file is None and not self._options and is_mine and file_of(self.group).exists():
            self._file = file_of(self.group)
        try:
            if self._file is not None and not is_mine:
                raise ValueError("a page in a browser opens no file: P makes a plan")
            plan = await (self._made() if self._file is None else asyncio.to_thread(read_plan, self._file))
            if plan.group != self.group:
                raise UsageError(f"{self._file} is the plan of {plan.group}, not of {self.group}")
        except (CommandError, ValueError) as error:
            self._problem = str(error)
        else:
            self._shown = PlanInSight(plan=plan, notes=notes_of(plan, self._file))
            self._shows_findings = not plan.steps
        self._number = 0
        self.draw(self.app.sight)

    async def _made(self) -> Plan:
        """Raises CommandError: no plan could be made, for the reason that the command gives. Raises ValueError: the
        source has none."""
        command = self.app.located(self._command("--output", "yaml"))
        status, self._text, notices = await output_of(command)
        try:
            return plan_from_data(load_tree(file_of(self.group), self._text))
        except (TreeError, Malformed) as error:
            why = notices.strip() or str(error)
            raise CommandError(f"{why} (exit status {status} of {command.text})") from None

    def _command(self, *more: str) -> KohortCommand:
        options = self._options if "--to" in self._options else ("--to", "consumer", *self._options)
        return view("plan", self.group, *options, *more)

    # What it shows

    def draw(self, sight: Sight) -> None:
        lines = [self._problem or ("reading the plan" if self._file else "making a plan")]
        if self._shown is not None:
            self._look(self._shown, sight)
            lines = self._shown.head(self._file)
        self.query_one("#plan", Static).update("\n".join(map(safe_text, lines)))
        follows = self.number in (None, self._number)  # Unless the user looks at another step
        self.grid.show(self._table())
        if self._shown is not None and self._number != self._shown.current and not self._shows_findings:
            self._number = self._shown.current
            if follows:
                self.grid.action_go(self._number)
        self._draw_gate()

    def _look(self, before: PlanInSight, sight: Sight) -> None:
        """Judge the gates again if a poll has shown the group, or a gate was recorded."""
        notes = before.notes
        if self._file is not None and (noted_ns := _changed_ns(notes_file(self._file))) != self._noted_ns:
            self._noted_ns, notes = noted_ns, notes_of(before.plan, self._file)
        if notes != before.notes:
            before = replace(before, notes=notes, at_ms=None)
        source, is_past = self.app.source, sight.past_ms is not None
        after = before.seen(
            sight, is_live=is_live(source) and not is_past, is_whole=source.snapshot is None and not is_past
        )
        self._shown, number = after, after.current
        states = [shown.state(number)[0] for shown in (before, after)]
        if before.results and number == before.current and states[1] == "open" != states[0]:
            self.app.bell()
            self.notify(f"gate {number}: {after.answer(number)}", markup=False)

    def _table(self) -> GridTable:
        if self._shown is None:
            return GridTable(columns=(), rows=())
        return findings_table(self._shown.plan) if self._shows_findings else steps_table(self._shown)

    def _draw_gate(self) -> None:
        lines: list[str] = []
        if self._shown is not None and self.number is not None:
            lines = self._shown.lines(self.number)
        self.query_one("#gate", Static).update("\n".join(map(safe_text, lines)))

    def on_grid_moved(self) -> None:
        super().on_grid_moved()
        self._draw_gate()

    def on_grid_opened(self, event: Grid.Opened) -> None:
        """A step whole, with what to do; or a finding."""
        if self._shown is None:
            return
        plan, number = self._shown.plan, int(event.key)
        if self._shows_findings:
            self._show(
                plan.findings[number].rule,
                [finding_item(plan.findings[number], source=plan.findings[number].source)],
            )
        elif number:
            self._show(f"{self.group}, step {number}", step_blocks(plan, number, plan.steps[number - 1]))

    def _show(self, title: str, blocks: Iterable[Block]) -> None:
        document = Document(command="plan", data={}, blocks=list(blocks))
        lines = text_lines(document_lines(document, max(self.size.width - 4, 40)), color=True)
        self.app.show_text(title, "".join(lines))

    def action_findings(self) -> None:
        self._shows_findings = not self._shows_findings
        self._number = 0
        self.grid.look(type(self.grid.view)())
        self.draw(self.app.sight)

    # Commands

    def action_gate(self) -> None:
        if self._shown is None or self.number is None:
            return
        if self._file is None:
            self.notify("W first: a gate is recorded next to the file of its plan", severity="warning")
            return
        no_notes = ("--no-notes",) if self.app.is_read_only else ()
        words = ("gate", str(self._file), "--step", str(self.number), *no_notes)
        self.app.run_command(KohortCommand(words=words))

    def action_rehearse(self) -> None:
        if self._file is not None:
            self.app.run_command(KohortCommand(words=("rehearse", str(self._file), "--seeds", SEEDS)))
        else:
            self.app.run_command(self._command("--rehearse", "--seeds", SEEDS))

    def action_plan(self) -> None:
        """Another plan: to another protocol, of other clients, or from another file."""
        self.app.type_command(" ".join(["plan", self._command().text.split(maxsplit=2)[2]]))

    def action_write(self) -> None:
        if self.app.is_read_only or self.app.is_web:
            self.notify("--read-only, or in a browser: no file is written here", severity="warning")
        elif self._file is not None:
            self.notify(f"it is in {self._file} already", markup=False)
        elif self._shown is None or not self._text:
            self.notify("there is no plan to write", severity="warning")
        else:
            name = str(file_of(self.group))
            line = LineScreen(
                "Write the plan to a new file", "Enter writes it, Esc leaves", self._write, text=name
            )
            self.app.push_screen(line, self._written)

    def _write(self, name: str) -> Path:
        """ValueError: it cannot be written, or exists."""
        file = Path(name)
        if file.exists():
            raise ValueError(f"{file} exists: name another file")
        try:
            write_file(file, [self._text], new=True)
        except CommandError as error:
            raise ValueError(str(error)) from None
        return file

    def _written(self, file: Path | None) -> None:
        if file is not None:
            self._file = file
            self.draw(self.app.sight)


def _changed_ns(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0
