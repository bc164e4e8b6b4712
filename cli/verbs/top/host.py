"""What screens know of the application: facts, the poller, and ways to other screens, which they do not import. The
methods without a body are those of `TopApp`."""

import time
from collections.abc import Mapping, Sequence

from textual.notifications import SeverityLevel

from cli.options import SourceOptions
from cli.render.cells import safe_text
from cli.render.document import Block
from cli.verbs.top.confined import out_of_reach
from cli.verbs.top.ending import EndingApp
from cli.verbs.top.moments import ReadPast
from cli.verbs.top.options import TopOptions
from cli.verbs.top.poller import Poller
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.words import KohortCommand, located


class Host(EndingApp):
    source: SourceOptions
    options: TopOptions
    is_read_only: bool
    sight: Sight
    poller: Poller
    past: ReadPast | None  # That was read last
    activity: str  # What takes longer, in a thread; empty: nothing

    @property
    def group(self) -> str | None:
        """The group on screen, or under the cursor of the list."""
        raise NotImplementedError

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002  (names in messages are not Textual's markup)
    ) -> None:
        super().notify(safe_text(message), title=title, severity=severity, timeout=timeout, markup=False)

    @property
    def place_text(self) -> str:
        """The source as the head names it: a context by its name, and whether changes are off or need that name."""
        place = self.source.place
        name = self.sight.source if place is None or place.name is None else place.name
        is_protected = place is not None and place.is_protected
        marks = [*(["read-only"] if self.is_read_only else []), *(["protected"] if is_protected else [])]
        return f"{name} ({', '.join(marks)})" if marks else name

    def focus_on(self, focus: Focus) -> None:
        self.poller.focus(focus)

    def open_screen(self, name: str, *subject: str) -> None:
        """Show a screen by the name that it has after `:`; `subject` is what it is about, as in `group billing`."""
        raise NotImplementedError

    def run_command(self, command: KohortCommand) -> None:
        """Show what a command prints; of a change, its preview."""
        raise NotImplementedError

    def located(self, command: KohortCommand) -> KohortCommand:
        """The command about what is on screen: with its source and its moment. Raises ValueError: the source has no
        such command, or a browser must not run it."""
        if self.is_web and (part := out_of_reach(command.words)) is not None:
            raise ValueError(f"not in a browser: {part} reaches beyond the source of this page")
        return located(command, self.source, self.options, self.sight.past_ms)

    def show_blocks(self, title: str, blocks: Sequence[Block]) -> None:
        """Show a text on a separate screen, to be scrolled."""
        raise NotImplementedError

    def type_command(self, text: str) -> None:
        """Open the line of commands with this text, to be completed."""
        raise NotImplementedError

    def filter_groups(self, text: str) -> None:
        """The list of groups, filtered."""
        raise NotImplementedError

    def turn_to(self, cluster: str) -> None:
        """Look at one of the clusters that the list shows: what is shown and done is of this one."""
        raise NotImplementedError

    @property
    def sights(self) -> Mapping[str, Sight]:
        """What is known of each of several clusters; empty if there is one."""
        raise NotImplementedError

    def switch_source(self, source: SourceOptions) -> None:
        """Look at another cluster: everything that is known of this one is forgotten."""
        raise NotImplementedError
