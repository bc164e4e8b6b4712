"""The colors of roles on screen, which the theme chooses; and lines of text whose pieces have roles."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from cli.render.lines import Line, Role

ROLE_CLASSES: Mapping[Role, str] = {role: f"role--{role.name.lower()}" for role in Role}
"""Component classes; `TopApp.CSS` has their colors."""


class RoleLines(Widget):
    """Lines of text, folded to its width."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(ROLE_CLASSES.values())
    DEFAULT_CSS = "RoleLines { height: auto; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Line, ...] = ()

    def show(self, lines: Iterable[Line]) -> None:
        lines = tuple(lines)
        if lines != self._lines:
            self._lines = lines
            self.refresh(layout=True)

    def render(self) -> Text:
        return Text("\n").join(painted_text(self, line) for line in self._lines)


def painted_text(widget: Widget, line: Line) -> Text:
    """A line in the colors of the theme; `widget` has the component classes."""
    return Text.assemble(*((piece.text, role_style(widget, piece.role)) for piece in line))


def role_style(widget: Widget, role: Role) -> Style:
    """The color and attributes of a role, without a background."""
    style = widget.get_component_rich_style(ROLE_CLASSES[role])
    return style.without_color + Style(color=style.color)
