"""What a command prints, on a screen; a change shows its preview first, and asks as the command does."""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Static

from cli.render.cells import safe_text
from cli.selection import is_live
from cli.verbs.top.host import Host
from cli.verbs.top.key_line import Key, KeyLine
from cli.verbs.top.running import QUESTION, Running
from cli.verbs.top.words import NEWEST_LAST, KohortCommand, name_of

HOW_TO_ANSWER = "\nNothing is changed yet. x makes the change, y copies the command, Esc leaves."


class TextScreen(Screen[None]):
    """A text, which is scrolled with the cursor keys."""

    app: Host
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back")]
    CSS = """
    #title { height: auto; background: $panel; padding: 0 1; }
    #text { padding: 0 1; }
    #consent { display: none; height: 3; border: round $warning; }
    #consent.open { display: block; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._heading, self._content = title, text

    def compose(self) -> ComposeResult:
        yield Static(safe_text(self._heading), id="title", markup=False)
        with VerticalScroll(id="scroll"):
            yield Static(Text.from_ansi(self._content), id="text", markup=False)
        yield self.key_line()

    def key_line(self) -> KeyLine:
        return KeyLine()

    def on_mount(self) -> None:
        self.query_one("#scroll").focus()

    def show(self, text: str) -> None:
        for widget in self.query("#text").results(Static):  # There is none while the screen is closed
            widget.update(Text.from_ansi(text))

    def action_back(self) -> None:
        self.app.pop_screen()


class OutputScreen(TextScreen):
    """The output of a command."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "Copy command"),
        Binding("r", "again", "Again"),
    ]

    def __init__(self, command: KohortCommand) -> None:
        super().__init__(command.text, "running …")
        self.command = command
        self.running: Running | None = None
        self.status: int | None = None  # None: it is running

    def on_mount(self) -> None:
        super().on_mount()
        self.action_again()

    def action_again(self) -> None:
        self.start(self.command)

    def start(self, command: KohortCommand, *, quietly: bool = False) -> None:
        """Run a command. Quietly: what is on screen stays until it has ended."""
        if not quietly:
            self.show("running …")
        self.run_worker(self._run(command, (lambda _: None) if quietly else self.show), exclusive=True)

    async def _run(self, command: KohortCommand, show: Callable[[str], None]) -> None:
        running = self.running = Running(command, max(self.size.width - 4, 40), show)
        before, self.status = self.status, None
        self.status = await running.run(can_answer=command.is_change)
        output = running.text or "It printed nothing."
        self.show(f"{output}\n\n\x1b[1mexit status {self.status}" if self.status else output)
        if name_of(command.words) in NEWEST_LAST:
            self.query_one("#scroll", VerticalScroll).scroll_end(animate=False)
        self.ended(before)

    def ended(self, before: int | None) -> None:
        """After the command has ended; `before` is the exit status of the run before."""

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.command.text)
        self.notify(f"copied: {safe_text(self.command.text)}", markup=False)


class ChangeScreen(OutputScreen):
    """The preview of a change, whose command waits for consent: it continues when the answer is typed in full, `yes` or
    the name of a protected context. With --read-only, or on a file, a preview that cannot be executed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "ask", "Execute …", tooltip="Execute it, if you say yes")
    ]

    def __init__(self, command: KohortCommand) -> None:
        super().__init__(command)
        self.is_made = False  # Whether the change is being made: its outcome will be shown here

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Input(id="consent", compact=True)

    def key_line(self) -> KeyLine:
        return KeyLine(
            "the answer in full", (Key(("enter",), "Make the change"), Key(("escape",), "Leave it"))
        )

    def action_again(self) -> None:
        if not self.stays():
            is_shown_only = self.app.is_read_only or not is_live(self.app.source)
            self.start(self.command if is_shown_only else self.command.executed())

    def show(self, text: str) -> None:
        super().show(QUESTION.sub(HOW_TO_ANSWER, text))
        self.refresh_bindings()
        if self.is_made:
            self.query_one("#scroll", VerticalScroll).scroll_end(animate=False)

    def ended(self, before: int | None) -> None:  # noqa: ARG002
        self.is_made = False
        self.refresh_bindings()
        self.app.poller.refresh()

    @property
    def awaited(self) -> str | None:
        """The answer that makes the change; None if the command does not ask, or has got one."""
        return None if self.running is None or self.is_made else self.running.awaited

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "ask" or self.awaited is not None

    def action_ask(self) -> None:
        consent = self.query_one("#consent", Input)
        consent.border_title = Text(f"Type {self.awaited} to make the change, Escape to leave it")
        consent.value = ""
        consent.add_class("open")
        consent.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._close()
        awaited = self.awaited
        if self.running is None or awaited is None or event.value.strip() != awaited:
            self.notify("nothing was changed: the answer was another one", severity="warning")
        else:
            self.is_made = True
            self.running.answer(awaited)

    def action_back(self) -> None:
        if self.query_one("#consent").has_class("open"):
            self._close()
            self.notify("nothing was changed")
        elif not self.stays():
            super().action_back()

    def interrupt(self) -> None:
        if self.is_made and self.running is not None:
            self.running.interrupt()

    def stays(self) -> bool:
        """Whether the screen must not be left, which is said."""
        if self.is_made:
            self.notify("the change is being made: its outcome is shown here", severity="warning")
        return self.is_made

    def _close(self) -> None:
        self.query_one("#consent").remove_class("open")
        self.query_one("#scroll").focus()
