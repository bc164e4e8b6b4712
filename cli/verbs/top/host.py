"""What screens know of the application: facts, the poller, and ways to other screens, which they do not import."""

import time

from cli.options import SourceOptions
from cli.verbs.top.ending import EndingApp
from cli.verbs.top.options import TopOptions
from cli.verbs.top.poller import Poller
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.words import Command


class Host(EndingApp):
    source: SourceOptions
    options: TopOptions
    is_read_only: bool
    sight: Sight
    poller: Poller
    activity: str  # What takes longer beside the screens; empty: nothing

    @property
    def group(self) -> str | None:
        """The group on screen, or under the cursor of the list."""
        raise NotImplementedError

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def focus_on(self, focus: Focus) -> None:
        self.poller.focus(focus)

    def open_screen(self, name: str, *subject: str) -> None:
        """Show a screen by the name that it has after `:`; `subject` is what it is about, as in `group billing`."""
        raise NotImplementedError

    def run_command(self, command: Command) -> None:
        """Show what a command prints; of a change, its preview."""
        raise NotImplementedError

    def type_command(self, text: str) -> None:
        """Open the line of commands with this text, to be completed."""
        raise NotImplementedError

    def filter_groups(self, text: str) -> None:
        """The list of groups, filtered."""
        raise NotImplementedError

    def switch_source(self, source: SourceOptions) -> None:
        """Look at another cluster: everything that is known of this one is forgotten."""
        raise NotImplementedError
