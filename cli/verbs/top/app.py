"""The application: its screens, the poller behind them, and the keys that work everywhere."""

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.message import Message

from cli.selection import ReusableSource
from cli.verbs.top.poller import Poller
from cli.verbs.top.screens.groups import GroupsScreen
from cli.verbs.top.sight import Focus, Sight


class Seen(Message):
    """A poll has brought something new."""

    def __init__(self, sight: Sight) -> None:
        super().__init__()
        self.sight = sight


class TopApp(App[None]):
    TITLE = "kohort top"
    CSS = """
    Screen { layout: vertical; }
    #head { height: 1; background: $panel; color: $text; }
    #head.failing { background: $error; color: $text; }
    #filter { height: 1; border: none; padding: 0; display: none; }
    #filter.open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("question_mark", "help", "Keys", key_display="?"),
        Binding("p", "pause", "Pause", show=False),
        Binding("r", "refresh", "Refresh", show=False),
    ]

    def __init__(self, opened: ReusableSource, *, every_s: float = 2.0, is_read_only: bool = False) -> None:
        super().__init__()
        self.sight = Sight(source=opened.name)
        self.is_read_only = is_read_only
        self.poller = Poller(opened, every_s, self._seen)

    def on_mount(self) -> None:
        self.poller.start()
        self.push_screen(GroupsScreen())

    def on_unmount(self) -> None:
        self.poller.stop()

    def _seen(self, sight: Sight) -> None:
        """In the poller's thread."""
        self.post_message(Seen(sight))

    def on_seen(self, message: Seen) -> None:
        self.sight = message.sight
        for screen in self.screen_stack:
            if show := getattr(screen, "show_sight", None):
                show(self.sight)

    def focus_on(self, focus: Focus) -> None:
        self.poller.focus(focus)

    def action_pause(self) -> None:
        self.poller.is_paused = not self.poller.is_paused

    def action_refresh(self) -> None:
        self.poller.refresh()
