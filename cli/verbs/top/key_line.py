"""The keys that can be pressed: the important ones in the last line of a screen, and all of them by their place."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, TypeAlias

from rich.text import Text
from textual import events
from textual.app import App
from textual.containers import ScrollableContainer
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from cli.render.cells import text_width
from cli.render.lines import CUT
from cli.verbs.top.grid import Grid

NAMES = {
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}
FIRST = ("enter", "s", "slash", "escape", "e")
LAST = ("colon", "question_mark", "q")  # At the end of the line, whatever else fits
TEXTUALS_OWN = (
    "app.focus_next",
    "app.focus_previous",
    "screen.copy_text",
    "help_quit",
    "page_left",
    "page_right",
)
GAP = 2
AnyScreen: TypeAlias = Screen[Any]


class Key(NamedTuple):
    """Keys that do the same, by Textual's names."""

    keys: tuple[str, ...]
    label: str
    sentence: str = ""
    is_important: bool = False

    @property
    def name(self) -> str:
        return key_name(self.keys[0])

    @property
    def names(self) -> str:
        return " ".join(map(key_name, self.keys[:2]))

    @property
    def width(self) -> int:
        return text_width(self.name) + 1 + text_width(self.label)


FILTER_KEYS = (Key(("enter",), "Keep"), Key(("escape",), "Clear"))


def key_name(key: str) -> str:
    *modifiers, last = key.split("+")
    name = NAMES.get(last, last.upper() if modifiers and len(last) == 1 else last)
    return "-".join([*(modifier.capitalize() for modifier in modifiers), name])


class Place(Enum):
    SCREEN = "On this screen"
    TABLE = "In the table"
    EVERYWHERE = "Everywhere"


def keys_by_place(screen: AnyScreen) -> dict[Place, list[Key]]:
    """The keys that can be pressed now."""
    keys: dict[Place, dict[str, Key]] = {place: {} for place in Place}
    for node, binding, is_enabled, _ in screen.active_bindings.values():
        scrolls = isinstance(node, ScrollableContainer) and not isinstance(node, Grid)
        is_known = scrolls or binding.action in TEXTUALS_OWN
        if is_known or not is_enabled or not binding.description:
            continue
        is_app = isinstance(node, App)
        place = Place.TABLE if isinstance(node, Grid) else Place.EVERYWHERE if is_app else Place.SCREEN
        actions = keys[place]
        same = actions.get(binding.description)
        names = sorted((*(same.keys if same else ()), binding.key), key=lambda key: key.startswith("ctrl+"))
        is_important = binding.show or (same is not None and same.is_important)
        actions[binding.description] = Key(
            tuple(names), binding.description, binding.tooltip or binding.description, is_important
        )
    return {place: list(actions.values()) for place, actions in keys.items()}


class KeyLine(Widget):
    """The important keys that fit, and always those of the command line, of all keys and of the end. A click presses
    one. While a text is typed: what ends it, and what can be typed."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key", "key-line--hint"}
    DEFAULT_CSS = """
    KeyLine { dock: bottom; height: 1; background: $panel; color: $foreground; text-wrap: nowrap; }
    KeyLine > .key-line--key { color: $text-accent; text-style: bold; }
    KeyLine > .key-line--hint { color: $text-muted; }
    KeyLine:ansi > .key-line--key { color: ansi_default; text-style: bold reverse; }
    """

    def __init__(self, hint: str = "", typing: Sequence[Key] = FILTER_KEYS) -> None:
        """`hint`: what can be typed, while a line of text has the focus; `typing`: the keys that end it."""
        super().__init__()
        self._hint, self._typing = hint, typing
        self._clickable: list[tuple[int, int, str]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def render(self) -> Text:
        width = self.size.width
        self._clickable = []
        text = Text(no_wrap=True, end="")
        if isinstance(self.screen.focused, Input):
            for key in self._typing:
                self._append(text, key)
            text.append(" " * GAP + self._hint, self.get_component_rich_style("key-line--hint"))
            return text
        keys = important_keys(self.screen)
        last = [key for name in LAST for key in keys if name in key.keys]
        room = width - sum(key.width + GAP for key in last)
        for key in keys:
            if key in last:
                continue
            if text.cell_len + GAP + key.width > room - 2 * GAP:
                text.append(f" {CUT}")
                break
            self._append(text, key)
        text.append(" " * (room - text.cell_len - 1))
        for key in last:
            self._append(text, key)
        return text

    def _append(self, text: Text, key: Key) -> None:
        start = text.cell_len
        text.append(" " if not start else " " * GAP)
        text.append(key.name, self.get_component_rich_style("key-line--key", partial=True))
        text.append(f" {key.label}")
        self._clickable.append((start, text.cell_len, key.keys[0]))

    def on_click(self, event: events.Click) -> None:
        for start, end, key in self._clickable:
            if start <= event.x < end:
                self.app.simulate_key(key)


def important_keys(screen: AnyScreen) -> list[Key]:
    """How to open, sort and filter is first: a stranger looks for that."""
    keys = [key for place in keys_by_place(screen).values() for key in place if key.is_important]
    return sorted(keys, key=lambda key: FIRST.index(key.keys[0]) if key.keys[0] in FIRST else len(FIRST))
