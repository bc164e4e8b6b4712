"""The line in which a time is typed."""

import re
import time
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from cli.render.cells import safe_text
from cli.verbs.top.host import Host
from groups.times import read_moment


class TimeLine(ModalScreen[int | None]):
    """Returns the time in milliseconds since 1970; None if it was left."""

    app: Host
    CSS = """
    TimeLine { align: center bottom; }
    #line { border: round $primary; height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Back", show=False)]

    def compose(self) -> ComposeResult:
        line = Input(
            placeholder="03:07 or 307, 2h for two hours ago, 2026-03-01T03:07:00Z", id="line", compact=True
        )
        line.border_title = "Show the groups as they were at (UTC)"
        line.border_subtitle = "Enter shows them, Esc leaves"
        yield line

    def on_mount(self) -> None:
        self.query_one("#line").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        try:
            self.dismiss(moment_text(event.value.strip(), self.app.now_ms()))
        except ValueError as error:
            self.query_one("#line", Input).border_title = Text(safe_text(str(error)))


CLOCK = re.compile(r"(\d{1,2}):?([0-5]\d)(?::([0-5]\d))?", re.ASCII)


def moment_text(text: str, now_ms: int) -> int:
    """A time, as in options; `03:07` or `307` is the last time that a clock in UTC showed it. Raises ValueError."""
    clock = CLOCK.fullmatch(text)
    if clock is None or int(clock[1]) > 23:
        return read_moment(text, now_ms)
    day = time.strftime("%Y-%m-%d", time.gmtime(now_ms / 1000))
    at_ms = read_moment(f"{day}T{int(clock[1]):02}:{clock[2]}:{clock[3] or '00'}Z", now_ms)
    return at_ms if at_ms <= now_ms else at_ms - 24 * 3_600_000
