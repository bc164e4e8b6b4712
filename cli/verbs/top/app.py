"""The application: its screens, the poller behind them, and the keys that work everywhere."""

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from cli.options import SourceOptions
from cli.selection import ReusableSource
from cli.verbs.top.poller import Poller
from cli.verbs.top.screens.cluster import ClusterScreen
from cli.verbs.top.screens.command_line import CommandLine
from cli.verbs.top.screens.contexts import ContextsScreen
from cli.verbs.top.screens.group import GroupScreen
from cli.verbs.top.screens.groups import GroupsScreen
from cli.verbs.top.screens.keys import KeysScreen
from cli.verbs.top.screens.output import ChangeScreen, OutputScreen
from cli.verbs.top.screens.topics import TopicsScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.words import Command

NAMED: dict[str, type[Screen[None]]] = {
    "groups": GroupsScreen,
    "topics": TopicsScreen,
    "cluster": ClusterScreen,
    "contexts": ContextsScreen,
    "keys": KeysScreen,
}


class Seen(Message):
    """A poll has brought something new."""

    def __init__(self, sight: Sight) -> None:
        super().__init__()
        self.sight = sight


class TopApp(App[None]):
    TITLE = "kohort top"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #head { height: 1; background: $panel; color: $text; }
    #head.failing { background: $error; color: $text; }
    #filter { display: none; height: 1; border: none; padding: 0; }
    #filter.open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("question_mark", "show('keys')", "Keys", key_display="?"),
        Binding("colon", "command_line", "Command", key_display=":"),
        Binding("T", "show('topics')", "Topics", show=False),
        Binding("C", "show('cluster')", "Cluster", show=False),
        Binding("X", "show('contexts')", "Contexts", show=False),
        Binding("p", "pause", "Pause", show=False),
        Binding("r", "refresh", "Refresh", show=False),
    ]

    def __init__(
        self,
        source: SourceOptions,
        *,
        group: str | None = None,
        every_s: float = 2.0,
        is_read_only: bool = False,
    ) -> None:
        super().__init__()
        self.source, self.is_read_only = source, is_read_only
        self._group, self._every_s = group, every_s
        self._opened = ReusableSource(source)
        self.sight = Sight(source=self._opened.name)
        self.poller = Poller(self._opened, every_s, self._seen)

    def on_mount(self) -> None:
        self.poller.start()
        self.push_screen(GroupsScreen())
        if self._group is not None:
            self.push_screen(GroupScreen(self._group))

    def on_unmount(self) -> None:
        self.poller.stop()
        self._opened.close()

    def switch_source(self, source: SourceOptions) -> None:
        """Look at another cluster: everything that is known of this one is forgotten."""
        self.poller.stop()
        self._opened.close()
        self.source, self._opened = source, ReusableSource(source)
        self.sight = Sight(source=self._opened.name)
        self.poller = Poller(self._opened, self._every_s, self._seen)
        self.poller.start()
        while len(self.screen_stack) > 2:
            self.pop_screen()

    def _seen(self, sight: Sight) -> None:
        """In the poller's thread."""
        self.post_message(Seen(sight))

    def on_seen(self, message: Seen) -> None:
        if message.sight.source != self.sight.source:
            return  # of the cluster before
        self.sight = message.sight
        if show := getattr(self.screen, "show_sight", None):
            show(self.sight)

    def focus_on(self, focus: Focus) -> None:
        self.poller.focus(focus)

    @property
    def group(self) -> str | None:
        """The group on screen, or under the cursor of the list."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, GroupScreen):
                return screen.group
            if isinstance(screen, GroupsScreen):
                return screen.grid.key
        return None

    def run_command(self, command: Command) -> None:
        """Show what a command prints; of a change, its preview."""
        command = command.with_source(self.source)
        if not command.is_change:
            self.push_screen(OutputScreen(command))
            return
        place = self.source.place
        name = place.name if place is not None and place.is_protected else None
        self.push_screen(ChangeScreen(command, name=name))

    def filter_groups(self, text: str) -> None:
        """The list of groups, filtered."""
        while not isinstance(self.screen, GroupsScreen):
            self.pop_screen()
        self.screen.filter(text)

    def action_show(self, name: str) -> None:
        if not isinstance(self.screen, NAMED[name]):
            self.push_screen(NAMED[name]())

    def action_command_line(self, text: str = "") -> None:
        self.push_screen(CommandLine(NAMED, self.group, text), self._typed)

    def _typed(self, typed: str | Command | None) -> None:
        if isinstance(typed, Command):
            self.run_command(typed)
        elif typed:
            self.action_show(typed)

    def action_pause(self) -> None:
        self.poller.is_paused = not self.poller.is_paused
        self.poller.refresh()

    def action_refresh(self) -> None:
        self.poller.refresh()
