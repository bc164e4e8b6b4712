"""The application: its screens, the poller behind them, and the keys that work everywhere."""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.filter import NoColor
from textual.message import Message
from textual.screen import Screen

from cli.errors import is_expected
from cli.options import SourceOptions
from cli.selection import ReusableSource
from cli.sources.history.read import GroupHistoryRead
from cli.sources.past import PastSource, moments_of
from cli.verbs.top.choice import GroupChoice, opened_group
from cli.verbs.top.host import Host
from cli.verbs.top.options import EVERY_GROUP, TopOptions
from cli.verbs.top.poller import Poller
from cli.verbs.top.screens.cluster import ClusterScreen
from cli.verbs.top.screens.command_line import CommandLine
from cli.verbs.top.screens.contexts import ContextsScreen
from cli.verbs.top.screens.group import GroupScreen
from cli.verbs.top.screens.groups import GroupsScreen
from cli.verbs.top.screens.keys import KeysScreen
from cli.verbs.top.screens.output import ChangeScreen, OutputScreen
from cli.verbs.top.screens.time_line import TimeLine
from cli.verbs.top.screens.topics import TopicsScreen
from cli.verbs.top.sight import Sight
from cli.verbs.top.theme import first_theme, is_colorless, theme_after
from cli.verbs.top.words import Command
from cli.verbs.why.options import HistorySelection
from cli.verbs.why.reading import read_history

PAST_MS = 24 * 3_600_000  # How much of the past is read

SCREENS: dict[str, Callable[..., Screen[None]]] = {
    "groups": GroupsScreen,
    "group": GroupScreen,
    "topics": TopicsScreen,
    "cluster": ClusterScreen,
    "contexts": ContextsScreen,
    "keys": KeysScreen,
}


class Seen(Message):
    """A poll has brought something new."""

    def __init__(self, poller: Poller, sight: Sight) -> None:
        super().__init__()
        self.poller, self.sight = poller, sight


class TopApp(Host):
    TITLE = "kohort top"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #failure { display: none; height: auto; max-height: 4; padding: 0 1; color: $text-error; }
    #filter-line { display: none; height: 1; background: $boost; }
    #filter-line.open { display: block; }
    #filter-sign { width: 3; padding: 0 0 0 1; text-style: bold; color: $text-accent; }
    #filter { width: 1fr; height: 1; border: none; padding: 0; }
    .role--heading, .role--strong { text-style: bold; }
    .role--faint { color: $text-muted; }
    .role--good { color: $text-success; }
    .role--warning { color: $text-warning; text-style: bold; }
    .role--bad { color: $text-error; text-style: bold; }
    .role--changed { text-style: reverse; }
    App:ansi .role--faint { text-style: dim; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("question_mark", "open('keys')", "Keys", key_display="?"),
        Binding("colon", "command_line", "Command", key_display=":"),
        Binding("T", "open('topics')", "Topics", show=False),
        Binding("C", "open('cluster')", "Cluster", show=False),
        Binding("X", "open('contexts')", "Contexts: other clusters", show=False),
        Binding("left_square_bracket", "step(-1)", "To the rebalance before", show=False, key_display="["),
        Binding("right_square_bracket", "step(1)", "To the rebalance after", show=False, key_display="]"),
        Binding("t", "time", "To a time in the past", show=False),
        Binding("l", "live", "Back to the present", show=False),
        Binding("p", "pause", "Pause, or continue", show=False),
        Binding("r", "refresh", "Read everything again", show=False),
        Binding("a", "theme", "Dark, light, or own colors", show=False),
    ]

    def __init__(self, source: SourceOptions, options: TopOptions) -> None:
        super().__init__()
        if is_colorless(os.environ) and not self.no_color:  # Textual itself knows NO_COLOR only
            self._filters.append(NoColor())
        theme = first_theme(os.environ, self.console.color_system)
        if theme is not None:
            self.theme = theme
        self.options, self.is_read_only = options, options.read_only
        self._open(source, GroupChoice(options.selection))

    def _open(self, source: SourceOptions, choice: GroupChoice) -> None:
        self.source, self._opened = source, ReusableSource(source)
        self.sight = Sight(source=self._opened.name)
        self.poller = Poller(self._opened, self.options.every, self._seen, self.now_ms, choice)
        self._past: GroupHistoryRead | None = None

    def on_mount(self) -> None:
        self.poller.start()
        self.push_screen(GroupsScreen())
        if group := opened_group(self.options.selection):
            self.open_screen("group", group)

    def on_unmount(self) -> None:
        self.poller.stop()
        self._opened.close()

    def switch_source(self, source: SourceOptions) -> None:
        self.poller.stop()
        self._opened.close()
        self.options = replace(self.options, selection=EVERY_GROUP)
        self._open(source, GroupChoice(self.options.selection))
        self.poller.start()
        while len(self.screen_stack) > 2:
            self.pop_screen()

    def _seen(self, sight: Sight) -> None:
        """In the poller's thread."""
        self.post_message(Seen(self.poller, sight))

    def on_seen(self, message: Seen) -> None:
        if message.poller is not self.poller:
            return  # of the cluster before
        self.sight = message.sight
        if show := getattr(self.screen, "show_sight", None):
            show(self.sight)

    # The past

    def action_step(self, by: int) -> None:
        """To the rebalance before or after the moment shown, of the group on screen, or of all."""
        self._with_past(lambda read: self._step(read, by))

    def action_time(self) -> None:
        self.push_screen(TimeLine(), self._timed)

    def action_live(self) -> None:
        if self.sight.past_ms is not None:
            self._show_moment(None, None)

    def _timed(self, at_ms: int | None) -> None:
        if at_ms is not None:
            self._with_past(lambda read: self._show_moment(read, at_ms))

    def _step(self, read: GroupHistoryRead, by: int) -> None:
        group = self.group if isinstance(self.screen, GroupScreen) else None
        moments = moments_of(read, group)
        now_ms = self.sight.past_ms
        if by < 0:
            position = (len(moments) if now_ms is None else bisect_left(moments, now_ms)) - 1
        else:
            position = len(moments) if now_ms is None else bisect_right(moments, now_ms)
        if 0 <= position < len(moments):
            self._show_moment(read, moments[position])
        elif by > 0:
            self.action_live()
        else:
            self.notify("no earlier rebalance is known")

    def _show_moment(self, read: GroupHistoryRead | None, at_ms: int | None) -> None:
        self.poller.look_at(None if read is None or at_ms is None else PastSource(read, at_ms), at_ms)

    def _with_past(self, then: Callable[[GroupHistoryRead], None]) -> None:
        """Read the past once, beside the screens, and go on with it."""
        if self._past is not None:
            then(self._past)
            return
        self.notify("reading the past …")
        self.run_worker(partial(self._read_past, then), thread=True, exclusive=True, group="past")

    def _read_past(self, then: Callable[[GroupHistoryRead], None]) -> None:
        since_ms = self.now_ms() - PAST_MS
        try:
            read = read_history(HistorySelection(all_groups=True), self.options, self.source, since_ms)
        except Exception as error:
            if not is_expected(error):
                raise
            self.call_from_thread(self.notify, str(error), severity="error")
            return
        self._past = read
        self.call_from_thread(then, read)

    @property
    def group(self) -> str | None:
        for screen in reversed(self.screen_stack):
            if isinstance(screen, GroupScreen):
                return screen.group
            if isinstance(screen, GroupsScreen):
                return screen.grid.key
        return None

    def run_command(self, command: Command) -> None:
        command = command.with_source(self.source)
        if not command.is_change:
            self.push_screen(OutputScreen(command))
            return
        place = self.source.place
        name = place.name if place is not None and place.is_protected else None
        self.push_screen(ChangeScreen(command, name=name))

    def filter_groups(self, text: str) -> None:
        while not isinstance(self.screen, GroupsScreen):
            self.pop_screen()
        self.screen.filter(text)

    def open_screen(self, name: str, *subject: str) -> None:
        screen = SCREENS[name](*subject)
        if subject or type(self.screen) is not type(screen):
            self.push_screen(screen)

    def action_open(self, name: str) -> None:
        self.open_screen(name)

    def type_command(self, text: str) -> None:
        names = [name for name in SCREENS if name != "group"]
        self.push_screen(CommandLine(names, self.group, text), self._typed)

    def action_command_line(self) -> None:
        self.type_command("")

    def _typed(self, typed: str | Command | None) -> None:
        if isinstance(typed, Command):
            self.run_command(typed)
        elif typed:
            self.open_screen(typed)

    def action_pause(self) -> None:
        self.poller.is_paused = not self.poller.is_paused
        self.poller.refresh()

    def action_theme(self) -> None:
        self.theme = theme_after(self.theme)

    def action_refresh(self) -> None:
        self.poller.refresh()
