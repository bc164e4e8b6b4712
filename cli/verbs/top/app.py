"""The application: all screens, their poller, and the keys that work on every screen."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.filter import Monochrome, NoColor
from textual.screen import Screen

from cli.errors import UsageError, is_expected
from cli.options import SourceOptions
from cli.render.color import text_lines
from cli.render.document import Block, Document
from cli.render.layout import document_lines
from cli.times import moment
from cli.verbs.top.choice import opened_group
from cli.verbs.top.completions import Known
from cli.verbs.top.looking import LookingApp, NewSight
from cli.verbs.top.moments import ReadPast, moment_text, read_past, read_recent
from cli.verbs.top.options import EVERY_GROUP, TopOptions
from cli.verbs.top.poller import Poller
from cli.verbs.top.screens.cluster import ClusterScreen
from cli.verbs.top.screens.clusters import ClustersScreen
from cli.verbs.top.screens.command_line import CommandLine, Opened
from cli.verbs.top.screens.contexts import ContextsScreen
from cli.verbs.top.screens.group import GroupScreen
from cli.verbs.top.screens.groups import GroupsScreen
from cli.verbs.top.screens.keys import KeysScreen
from cli.verbs.top.screens.line import LineScreen
from cli.verbs.top.screens.member import MemberScreen
from cli.verbs.top.screens.output import ChangeScreen, OutputScreen, TextScreen
from cli.verbs.top.screens.partition import PartitionScreen
from cli.verbs.top.screens.plan import PlanScreen
from cli.verbs.top.screens.topic import TopicScreen
from cli.verbs.top.screens.topics import TopicsScreen
from cli.verbs.top.sight import HOUR_MS
from cli.verbs.top.theme import first_theme, is_colorless, theme_after
from cli.verbs.top.words import UNDO, KohortCommand, journal
from cli.verbs.why.reading import is_file
from groups.times import format_moment

DRAWN_EVERY_S = 0.2
KEPT_MS = 30_000  # How long the past that was read may be used for the present

SCREENS: dict[str, Callable[..., Screen[None]]] = {
    "groups": GroupsScreen,
    "group": GroupScreen,
    "member": MemberScreen,
    "partition": PartitionScreen,
    "topic": TopicScreen,
    "topics": TopicsScreen,
    "cluster": ClusterScreen,
    "contexts": ContextsScreen,
    "plan": PlanScreen,
    "keys": KeysScreen,
}


class TopApp(LookingApp):
    TITLE = "kohort top"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen { layout: vertical; }
    #failure { display: none; height: auto; max-height: 4; padding: 0 1; color: $text-error; }
    .stale #grid, .stale #summary, .stale #events { tint: $background 60%; }
    App:ansi .stale #grid, App:ansi .stale #summary, App:ansi .stale #events { text-style: dim; }
    App:nocolor Input > .input--cursor { text-style: reverse; }
    #filter-line { display: none; height: 1; background: $boost; }
    #filter-line.open { display: block; }
    #filter-sign { width: 3; padding: 0 0 0 1; text-style: bold; color: $text-accent; }
    #filter { width: 1fr; height: 1; border: none; padding: 0; }
    ToastRack { dock: top; align: right top; margin: 1 0; }
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
        Binding("z", "journal", "Changes that were made", show=False),
        Binding("Z", "undo", "Undo the last change …", show=False),
        Binding("t", "time", "To a time in the past", show=False),
        Binding("l", "live", "Back to the present", show=False),
        Binding("p", "pause", "Pause, or continue", show=False),
        Binding("r", "refresh", "Read everything again", show=False),
        Binding("a", "theme", "Dark, light, or own colors", show=False),
    ]

    def __init__(self, source: SourceOptions, options: TopOptions) -> None:
        """UsageError: an option names a group or a time that does not exist."""
        super().__init__()
        # Textual itself knows NO_COLOR only, and its shades of gray make the terminal's own colors black on black.
        self._filters = [
            line_filter for line_filter in self._filters if not isinstance(line_filter, Monochrome)
        ]
        self.no_color = is_colorless(os.environ)
        if self.no_color:
            self._filters.append(NoColor())
        theme = first_theme(os.environ, self.console.color_system)
        if theme is not None:
            self.theme = theme
        self.failure: Exception | None = None
        self._drawn_s, self.is_drawn = 0.0, True
        self.begin(source, options)
        self._has_answered = bool(self.clusters)  # One that never answers is not the end

    def on_mount(self) -> None:
        group = opened_group(self.options.selection)
        if self.clusters:
            self.push_screen(ClustersScreen(group))
            for poller in self.pollers:
                poller.start()
            return
        self.push_screen(GroupsScreen())
        if group:
            self.open_screen("group", group)
        self._start()

    def _start(self) -> None:
        if is_file(self.options):
            self.action_live()
        else:
            self.poller.start()

    def on_unmount(self) -> None:
        for poller in self.pollers:
            poller.stop()

    def switch_source(self, source: SourceOptions) -> None:
        if self.is_web:
            raise UsageError("a page in a browser shows one source: start kohort top --web for the other one")
        if self.clusters:
            raise UsageError(
                "these screens show the clusters that they were started with: Enter opens a group"
            )
        if self._is_changing():
            return
        moment(source.as_of, "--as-of")  # A source that cannot be is refused before this one is left
        self.poller.stop()
        self.options = replace(self.options, selection=EVERY_GROUP, journal=None, replay=None)
        self.open(source)
        self._start()
        while len(self.screen_stack) > 2:
            self.pop_screen()

    def on_new_sight(self, message: NewSight) -> None:
        if message.poller is not self.poller or message.sight.past_ms != self.poller.sight.past_ms:
            if isinstance(self.screen, ClustersScreen):
                self._draw_soon()
            return  # of another cluster, or of another moment
        self.sight, error = message.sight, self.poller.error
        if self.sight.at_ms is not None and not self.sight.failure:
            self._has_answered = True
            if self.sight.cluster is not None and not self.asks_recent:
                self.asks_recent = True
                Thread(
                    target=self._read_recent, args=(self.poller, self.sight.cluster.id), daemon=True
                ).start()
        elif error is not None and not (self._has_answered and is_expected(error)):
            self._fail(error)
            return
        self._draw_soon()

    def _fail(self, error: Exception) -> None:
        """End with an error, as other commands do: the source never answered."""
        self.failure = error
        self.exit(return_code=1)

    def _draw_soon(self) -> None:
        """Draw what is new, but not so often that keys would have to wait: a poll of 5,000 groups has many parts."""
        if self.is_drawn:
            self.is_drawn = False
            self.set_timer(max(self._drawn_s + DRAWN_EVERY_S - time.monotonic(), 0.001), self._draw)

    def _draw(self) -> None:
        self._drawn_s, self.is_drawn = time.monotonic(), True
        is_shown = bool(self.screen_stack) and self.screen.is_mounted  # not while the application ends
        if is_shown and (show := getattr(self.screen, "show_sight", None)):
            show(self.sight)

    # The past

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("step", "time") and isinstance(self.screen, ClustersScreen):
            return False  # The past is that of one cluster, of which a group is open
        return super().check_action(action, parameters)

    def action_step(self, by: int) -> None:
        """To the rebalance before or after the moment shown, of the group on screen, or of all."""
        self._with_past(partial(self._step, by))

    def action_time(self) -> None:
        title = "Show the groups as they were at (UTC)"
        example = "03:07 or 307, 2h for two hours ago, 2026-03-01T03:07:00Z"
        line = LineScreen(title, "Enter shows them, Esc leaves", self._moment_of, example=example)
        self.push_screen(line, self._timed)

    def _moment_of(self, text: str) -> int:
        return moment_text(text, self.now_ms())

    def action_live(self) -> None:
        """To the present; of a file, to its end."""
        self.past_ms, self.activity = 0, ""  # What is being read is not waited for
        if is_file(self.options):
            self.past = None
            self._with_past(self._show_end)
        elif self.sight.past_ms is not None:
            self.poller.look_at(None)

    def _show_end(self, past: ReadPast) -> None:
        self.poller.look_at(past.moment(past.end_ms or self.now_ms()))

    def _timed(self, at_ms: int | None) -> None:
        if at_ms is not None and at_ms > self.now_ms():
            self.notify("that time has not come yet", severity="warning")
        elif at_ms is not None:
            since_ms = None if self.past is None or at_ms >= self.past.begin_ms else at_ms - HOUR_MS
            self._with_past(lambda past: self.poller.look_at(past.moment(at_ms)), since_ms)

    def _step(self, by: int, past: ReadPast) -> None:
        at_ms = past.step(self._is_stepped, self.sight.past_ms, by)
        if at_ms is not None:
            self.poller.look_at(past.moment(at_ms))
        elif by > 0:
            self.action_live()
        else:
            begin = f" since {format_moment(past.begin_ms)}; t opens an earlier time" if past.begin_ms else ""
            self.notify(f"no earlier rebalance is known{begin}")

    def _is_stepped(self, group: str) -> bool:
        """Whether a group is on screen: the one that the screen is about, or one of the list."""
        subject = getattr(self.screen, "group", None)
        return self.choice.includes(group) if subject is None else group == subject

    def _with_past(self, then: Callable[[ReadPast], None], since_ms: int | None = None) -> None:
        """Read the past in a thread, and continue with it. What was read is kept while a moment of it is shown."""
        is_shown = self.sight.past_ms is not None or self.now_ms() - self.past_ms <= KEPT_MS
        if self.past is not None and is_shown and since_ms is None:
            then(self.past)
            return
        if self.activity:
            return
        self.activity = "reading the past …"
        self._draw()
        Thread(target=self._read_past, args=(self.poller, then, since_ms), daemon=True).start()

    def _read_past(self, poller: Poller, then: Callable[[ReadPast], None], since_ms: int | None) -> None:
        """In a thread: a log may take minutes, which must not keep the screens from ending."""
        past: ReadPast | Exception
        try:
            past = read_past(self.options, self.source, self.now_ms(), since_ms)
        except Exception as error:
            past = error
        self.call(partial(self._have_past, poller, then, past))

    def _have_past(
        self, poller: Poller, then: Callable[[ReadPast], None], past: ReadPast | Exception
    ) -> None:
        if poller is not self.poller or not self.activity:
            return  # It is not waited for any more
        self.activity = ""
        if isinstance(past, ReadPast):
            self.past, self.past_ms = past, self.now_ms()
            then(past)
        elif not is_expected(past) or (is_file(self.options) and not self._has_answered):
            self._fail(past)
        else:
            self.notify(str(past), severity="error", markup=False)
        self._draw()

    def _read_recent(self, poller: Poller, cluster: str | None) -> None:
        """In a thread: how often groups rebalanced before the first poll, if there are records of that at hand."""
        try:
            poller.know(read_recent(self.source, cluster, self.now_ms()))
        except Exception as error:
            if not is_expected(error):
                raise
            # These records only complete a column, which begins with the first poll without them

    @property
    def group(self) -> str | None:
        for screen in reversed(self.screen_stack):
            if isinstance(group := getattr(screen, "group", None), str):
                return group
            if isinstance(screen, GroupsScreen):
                return screen.group_key
        return None

    def run_command(self, command: KohortCommand) -> None:
        try:
            command = self.located(command)
        except ValueError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        self.push_screen(ChangeScreen(command) if command.is_change else OutputScreen(command))

    def action_journal(self) -> None:
        """Of the group that the screen is about, or of all."""
        self.run_command(journal(getattr(self.screen, "group", None)))

    def action_undo(self) -> None:
        self.run_command(UNDO)

    def show_blocks(self, title: str, blocks: Sequence[Block]) -> None:
        document = Document(command="top", data={}, blocks=blocks)
        lines = text_lines(document_lines(document, max(self.size.width - 4, 40)), color=True)
        self.push_screen(TextScreen(title, "".join(lines)))

    def filter_groups(self, text: str) -> None:
        if self._is_changing():
            return
        while not isinstance(self.screen, GroupsScreen):
            self.pop_screen()
        self.screen.filter(text)

    def open_screen(self, name: str, *subject: str) -> None:
        try:
            screen = SCREENS[name](*subject)
        except ValueError as error:  # As what is on screen has no plan
            self.notify(str(error), severity="warning", markup=False)
            return
        if subject or type(self.screen) is not type(screen):
            self.push_screen(screen)

    def action_open(self, name: str) -> None:
        self.open_screen(name)

    def type_command(self, text: str) -> None:
        known = Known(sight=self.sight, group=self.group, has_files=not self.is_web)
        self.push_screen(CommandLine(known, text, is_read_only=self.is_read_only), self._typed)

    def action_command_line(self) -> None:
        self.type_command("")

    def _typed(self, typed: Opened | KohortCommand | None) -> None:
        if isinstance(typed, KohortCommand):
            self.run_command(typed)
        elif typed is not None:
            self.open_screen(*typed)

    async def action_quit(self) -> None:
        if not self._is_changing():
            await super().action_quit()

    def action_interrupt(self) -> None:
        """Ctrl-C stops a change that is being made, whose screen says what was made; otherwise it is the end."""
        if self._is_changing():
            for screen in self.screen_stack:
                if isinstance(screen, ChangeScreen):
                    screen.interrupt()
        else:
            super().action_interrupt()

    def _is_changing(self) -> bool:
        """Whether a change is being made, whose screen must not be closed."""
        return any(isinstance(screen, ChangeScreen) and screen.stays() for screen in self.screen_stack)

    def action_pause(self) -> None:
        is_paused = not self.poller.is_paused
        for poller in self.pollers:
            poller.is_paused = is_paused
            poller.refresh()

    def action_theme(self) -> None:
        self.theme = theme_after(self.theme)

    def action_refresh(self) -> None:
        if is_file(self.options):
            self.action_live()
        else:
            for poller in self.pollers:
                poller.refresh()
