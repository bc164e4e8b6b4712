"""The first line of a screen: what it shows on the left, where it is from and when on the right."""

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from cli.render.cells import safe_text, text_width
from cli.render.fit import without_middle

GAP = 2


class Head(Widget):
    DEFAULT_CSS = """
    Head { height: 1; background: $panel; color: $foreground; text-wrap: nowrap; }
    Head.past { background: $warning; color: auto; text-style: bold; }
    Head.failing { background: $error; color: auto; text-style: bold; }
    Head:ansi { text-style: reverse; }
    Head:ansi.past { background: ansi_yellow; color: ansi_black; text-style: bold; }
    Head:ansi.failing { background: ansi_red; color: ansi_bright_white; text-style: bold; }
    Head:nocolor, Head:nocolor.past, Head:nocolor.failing { text-style: bold reverse; }
    """
    subject: reactive[tuple[str, ...]] = reactive(())
    origin: reactive[tuple[str, ...]] = reactive(())
    """The source, and the rest, which is not shortened."""

    def render(self) -> Text:
        width = self.size.width - 2
        first, *rest = map(safe_text, self.subject or ("",))
        source, *times = map(safe_text, self.origin or ("",))
        after = "".join(" " * GAP + text for text in rest)
        times_text = "".join(" " * GAP + text for text in times)
        left = width - text_width(after) - text_width(times_text) - GAP
        shown = _shortened(first, max(left - min(text_width(source), 20), 12))
        source = _shortened(source, max(left - text_width(shown), 0))
        gap = width - sum(map(text_width, (shown, after, source, times_text)))
        return Text.assemble(
            " ", (shown, "bold"), after, " " * max(gap, GAP), source, times_text, " ", no_wrap=True, end=""
        )


def _shortened(text: str, width: int) -> str:
    if text_width(text) <= width:
        return text
    return without_middle(text, width, width // 3) if width > 3 else ""
