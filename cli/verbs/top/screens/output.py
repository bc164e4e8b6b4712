"""What a command prints, on a screen; a change shows its preview first, and asks as the command does."""

import asyncio
import os
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Static

from cli.verbs.top.host import Host
from cli.verbs.top.key_line import KeyLine
from cli.verbs.top.words import KOHORT, Command

MOST_OUTPUT = 4 * 1024 * 1024


class OutputScreen(Screen[None]):
    """The output of a command; scrolled with the cursor keys."""

    app: Host
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("y", "copy", "Copy the command"),
        Binding("r", "again", "Again"),
    ]
    CSS = """
    #command { height: auto; background: $panel; padding: 0 1; }
    #output { padding: 0 1; }
    #consent { display: none; height: 3; border: round $warning; }
    #consent.open { display: block; }
    """

    def __init__(self, command: Command) -> None:
        super().__init__()
        self.command = command

    def compose(self) -> ComposeResult:
        yield Static(self.command.text, id="command", markup=False)
        with VerticalScroll(id="scroll"):
            yield Static("…", id="output", markup=False)
        yield Input(id="consent", compact=True)
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#scroll").focus()
        self._run(self.command)

    def _run(self, command: Command) -> None:
        self.query_one("#output", Static).update("running …")
        self.run_worker(self._shown(command), exclusive=True)

    async def _shown(self, command: Command) -> None:
        status, text = await run(command, width=max(self.size.width - 4, 40))
        output = Text.from_ansi(text or "It printed nothing.")
        if status:
            output.append(f"\n\nexit status {status}", "bold")
        self.query_one("#output", Static).update(output)
        self.ended(status)

    def ended(self, status: int) -> None:
        """After the command has ended."""

    def action_back(self) -> None:
        self.app.pop_screen()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.command.text)
        self.notify("copied")

    def action_again(self) -> None:
        self._run(self.command)


class ChangeScreen(OutputScreen):
    """The preview of a change. Nothing is changed before the answer is typed in full: `yes`, or the name of a protected
    context."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "ask", "Execute …")]

    def __init__(self, command: Command, *, name: str | None) -> None:
        """`name`: of the protected context; None if it is not protected."""
        super().__init__(command)
        self.name_to_type = name
        self._may_execute = False

    def ended(self, status: int) -> None:
        self._may_execute = status == 0

    def action_ask(self) -> None:
        if self.app.is_read_only:
            self.notify("--read-only: nothing can be changed here; y copies the command", severity="warning")
            return
        if not self._may_execute:
            self.notify("there is nothing to execute: the preview says why", severity="warning")
            return
        consent = self.query_one("#consent", Input)
        consent.border_title = f"Type {self.name_to_type or 'yes'} to make the change, Escape to leave it"
        consent.value = ""
        consent.add_class("open")
        consent.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() != (self.name_to_type or "yes"):
            self.action_back()
            return
        self._close()
        self._may_execute = False
        words = ("--confirm", self.name_to_type) if self.name_to_type else ("--yes",)
        self._run(self.command.executed(words))
        self.app.poller.refresh()

    def action_back(self) -> None:
        if self.query_one("#consent").has_class("open"):
            self._close()
            self.notify("nothing was changed")
        else:
            super().action_back()

    def _close(self) -> None:
        self.query_one("#consent").remove_class("open")
        self.query_one("#scroll").focus()


async def run(command: Command, width: int) -> tuple[int, str]:
    """The exit status of a command and what it printed, notices after the rest."""
    environment = {**os.environ, "COLUMNS": str(width), "KOHORT_COLOR": "always"}
    process = await asyncio.create_subprocess_exec(
        *KOHORT,
        *command.words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        output, notices = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        raise
    texts = (output[:MOST_OUTPUT].decode(errors="replace"), notices[:MOST_OUTPUT].decode(errors="replace"))
    return process.returncode or 0, "\n".join(text.rstrip() for text in texts if text.strip())
