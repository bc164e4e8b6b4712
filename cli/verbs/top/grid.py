"""The widget of a table: only the lines on screen are drawn, so that 5,000 rows scroll like 50."""

from textwrap import wrap
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cli.render.cells import cell_text, safe_text, text_width
from cli.render.fit import without_middle
from cli.render.lines import Role
from cli.verbs.top.roles import ROLE_CLASSES, role_style
from cli.verbs.top.tables import GridRow, GridTable, GridView, Marked

GAP = 2
WIDEST = 60  # Of a column that is not the last
LEAST_FIRST = 24  # Of the column that names a row, where the screen is too narrow for all
LEAST_CLUSTER = 12  # Of a column before it
SAMPLE = 100  # Rows that decide the widths of columns


class Grid(ScrollView, can_focus=True):
    """A table with a cursor. Enter opens a row; the heading of the column that sorts it has an arrow."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*ROLE_CLASSES.values(), "grid--heading", "grid--cursor"}
    DEFAULT_CSS = """
    Grid { height: 1fr; scrollbar-size: 0 1; }
    Grid > .grid--heading { text-style: bold; color: $foreground; background: $panel; }
    Grid > .grid--cursor { background: $accent 30%; text-style: bold; }
    Grid:ansi > .grid--heading { text-style: bold underline; }
    Grid:ansi > .grid--cursor { background: ansi_default; text-style: bold reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("home,g", "go(0)", show=False),
        Binding("end,G", "go(-1)", show=False),
        Binding("left,h", "shift(-1)", show=False),
        Binding("right", "shift(1)", show=False),
        Binding("enter", "open", "Open"),
        Binding("s", "sort_next", "Sort", tooltip="Sort by the next column"),
        Binding("S", "turn", "Turn the order", show=False),
    ]
    cursor: reactive[int] = reactive(0, repaint=False)

    class Opened(Message):
        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Moved(Message):
        """The cursor, or what is on screen, has changed."""

    class Sorted(Message):
        """The order has changed."""

    def __init__(self, *, id: str | None = None, view: GridView | None = None) -> None:
        super().__init__(id=id)
        self._table = GridTable(columns=(), rows=())
        self._rows: list[GridRow] = []
        self._widths: list[int] = []
        self._key: str | None = None  # Of the row under the cursor: it stays there when rows move
        self.view = view or GridView()
        self.empty = ""  # Shown if the table has no rows
        self.opens = True  # Whether Enter on a row opens something

    # What it shows

    @property
    def key(self) -> str | None:
        return self._key if self._rows else None

    @property
    def shown(self) -> int:
        return len(self._rows)

    @property
    def table(self) -> GridTable:
        return self._table

    @property
    def visible_keys(self) -> list[str]:
        first = int(self.scroll_offset.y)
        return [row.key for row in self._rows[first : first + max(self.size.height, 1)]]

    def show(self, table: GridTable) -> None:
        self._table = table
        self._arrange()

    def look(self, view: GridView) -> None:
        self.view = view
        self._arrange()
        self.post_message(self.Sorted())

    def _arrange(self) -> None:
        self._rows = self.view.apply(self._table)
        self._measure()
        position = next((n for n, row in enumerate(self._rows) if row.key == self._key), None)
        self.set_reactive(
            Grid.cursor, min(self.cursor, max(len(self._rows) - 1, 0)) if position is None else position
        )
        self._key = self._rows[self.cursor].key if self._rows else None
        self.virtual_size = Size(self._left_of(len(self._widths)) - GAP, len(self._rows) + 1)
        self._keep_in_sight()
        self.refresh()
        self.post_message(self.Moved())

    def _measure(self) -> None:
        first = int(self.scroll_offset.y)
        sample = [*self._rows[:SAMPLE], *self._rows[first : first + 100]]
        last = len(self._table.columns) - 1
        self._widths = []
        for number, column in enumerate(self._table.columns):
            texts = (text_width(_text(row, number, column.name)) for row in sample)
            widest = max(texts, default=0)
            width = max(len(column.name) + 1, column.least_width, widest)
            self._widths.append(width if number == last else min(width, WIDEST))
        if self._widths and self._left_of(last + 1) > self.size.width:  # so that others are seen next to it
            *others, first = range(self._names)
            self._widths[first] = min(self._widths[first], max(LEAST_FIRST, self.size.width * 3 // 10))
            for other in others:
                self._widths[other] = min(self._widths[other], LEAST_CLUSTER)

    # Drawing

    @property
    def _names(self) -> int:
        """The number of columns that name a row: the first, or CLUSTER and GROUP."""
        return 2 if [column.name for column in self._table.columns[:2]] == ["CLUSTER", "GROUP"] else 1

    @property
    def _fixed(self) -> int:
        """The width of the columns that name a row: they stay while the others move, if there is room."""
        fixed = self._left_of(self._names) if self._widths else 0
        return fixed if fixed * 2 <= self.size.width else 0

    def _left_of(self, column: int) -> int:
        return sum(self._widths[:column]) + GAP * column

    def render_line(self, y: int) -> Strip:
        scroll_x, scroll_y = self.scroll_offset
        width = self.size.width
        if y == 0:
            line = self._heading()
        else:
            number = int(scroll_y) + y - 1
            if number >= len(self._rows):
                return self._blank("" if self._rows or y < 2 else self._nothing(y - 2))
            line = self._line(self._rows[number], is_cursor=number == self.cursor)
        fixed, left = self._fixed, int(scroll_x)
        rest = line.crop_extend(fixed + left, left + width, self._background(y))
        line = Strip([*line.crop(0, fixed), *rest], width) if fixed else rest
        return self._with_marks(line) if y == 0 else line

    def _background(self, y: int) -> Style:
        if y == 0:
            return self.get_component_rich_style("grid--heading")
        if int(self.scroll_offset.y) + y - 1 == self.cursor:
            return self.get_component_rich_style("grid--cursor")
        return self.rich_style

    def _blank(self, text: str) -> Strip:
        style = self.rich_style + role_style(self, Role.FAINT)
        return Strip([Segment(f" {text}", style)]).adjust_cell_length(self.size.width, self.rich_style)

    def _nothing(self, number: int) -> str:
        """A line of the sentence that says why there are no rows."""
        is_filtered = bool(self.view.words and self._table.rows)
        text = "Nothing matches the filter; Esc clears it." if is_filtered else self.empty
        lines = wrap(safe_text(text), max(self.size.width - 2, 1))
        return lines[number] if number < len(lines) else ""

    def _with_marks(self, heading: Strip) -> Strip:
        """At the ends of the heading: whether there are more columns."""
        style = self.get_component_rich_style("grid--heading")
        left, width, fixed = int(self.scroll_offset.x), self.size.width, self._fixed
        if left > 0 and fixed:
            heading = Strip(
                [*heading.crop(0, fixed - 1), Segment("‹", style), *heading.crop(fixed, width)], width
            )
        if left + width < self.virtual_size.width:
            heading = Strip([*heading.crop(0, width - 1), Segment("›", style)], width)
        return heading

    def _heading(self) -> Strip:
        style = self.get_component_rich_style("grid--heading")
        segments = []
        for number, column in enumerate(self._table.columns):
            arrow = ""
            if column.name == self.view.column:
                arrow = "▼" if self.view.is_descending else "▲"
            segments.append(
                Segment(_fitted(column.name + arrow, self._widths[number], column.is_number), style)
            )
            segments.append(Segment(" " * GAP, style))
        return Strip(segments[:-1])

    def _line(self, row: GridRow, *, is_cursor: bool) -> Strip:
        cursor = self.get_component_rich_style("grid--cursor") if is_cursor else Style()
        plain = self.rich_style
        segments = []
        for number, column in enumerate(self._table.columns):
            cell, width = row.cells[number], self._widths[number]
            if isinstance(cell, Marked) and text_width(cell) <= width:
                segments += [
                    Segment(text, plain + role_style(self, role) + cursor) for text, role in cell.line
                ]
                segments.append(Segment(" " * (width - text_width(cell) + GAP), plain + cursor))
                continue
            text = _fitted(_text(row, number, column.name), width, column.is_number)
            role = row.roles.get(number)
            style = plain if role is None else plain + role_style(self, role)
            segments.append(Segment(text, style + cursor))
            segments.append(Segment(" " * GAP, plain + cursor))
        return Strip(segments[:-1])

    # Keys

    def watch_cursor(self, before: int, now: int) -> None:
        self._key = self._rows[now].key if self._rows else None
        self._keep_in_sight()
        top = int(self.scroll_offset.y)
        self.refresh(*(Region(0, number - top + 1, self.size.width, 1) for number in (before, now)))
        self.post_message(self.Moved())

    def _keep_in_sight(self) -> None:
        """The heading is drawn over the first line, so that a page has one line less."""
        if self.size.height > 1:
            top, page = int(self.scroll_offset.y), self.size.height - 1
            if self.cursor < top:
                self.scroll_to(y=self.cursor, animate=False)
            elif self.cursor >= top + page:
                self.scroll_to(y=self.cursor - page + 1, animate=False)

    def action_move(self, by: int) -> None:
        self.cursor = max(0, min(self.cursor + by, len(self._rows) - 1))

    def action_page(self, by: int) -> None:
        self.action_move(by * max(self.size.height - 2, 1))

    def action_go(self, to: int) -> None:
        self.cursor = max(0, to if to >= 0 else len(self._rows) + to)

    def action_shift(self, by: int) -> None:
        """By columns, so that each begins where the first column ends."""
        first = self._fixed
        starts = [self._left_of(number) - first for number in range(len(self._widths) + 1)]
        left = int(self.scroll_offset.x)
        if by > 0:
            self.scroll_to(x=next((start for start in starts if start > left), left), animate=False)
        else:
            self.scroll_to(x=next((start for start in reversed(starts) if start < left), 0), animate=False)

    def _show_column(self, column: int) -> None:
        if not self._fixed or column < self._names:
            return
        first, left = self._fixed, int(self.scroll_offset.x)
        start, end = self._left_of(column), self._left_of(column) + self._widths[column]
        if start - left < first:
            self.scroll_to(x=start - first, animate=False)
        elif end - left > self.size.width:
            self.scroll_to(x=min(end - self.size.width, start - first), animate=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return self.opens or action != "open"

    def action_open(self) -> None:
        if self.key is not None and self.opens:
            self.post_message(self.Opened(self.key))

    def action_sort_next(self) -> None:
        columns = len(self._table.columns)
        if columns:
            position = self.view.position(self._table)
            following = 0 if position is None else (position + 1) % columns
            self.look(GridView(words=self.view.words, only=self.view.only).sorted_by(following, self._table))
            self._show_column(following)

    def action_turn(self) -> None:
        position = self.view.position(self._table)
        if position is not None:
            self.look(self.view.sorted_by(position, self._table))

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            left = 0 if event.x < self._fixed else int(self.scroll_offset.x)
            column = self._column_at(event.x + left)
            if column is not None:
                self.look(self.view.sorted_by(column, self._table))
            return
        number = int(self.scroll_offset.y) + event.y - 1
        if number < len(self._rows):
            if event.chain > 1 and number == self.cursor:
                self.action_open()
            self.cursor = number

    def _column_at(self, x: int) -> int | None:
        end = 0
        for number, width in enumerate(self._widths):
            end += width + GAP
            if x < end:
                return number
        return None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The wheel takes the cursor along: the next poll would otherwise scroll back to it."""
        super().watch_scroll_y(old_value, new_value)
        first, page = int(new_value), max(self.size.height - 1, 1)
        self.cursor = max(0, min(max(self.cursor, first), first + page - 1, len(self._rows) - 1))

    def on_resize(self) -> None:
        self._arrange()


def _text(row: GridRow, number: int, column: str) -> str:
    return safe_text(cell_text(row.cells[number], column))


def _fitted(text: str, width: int, is_number: bool) -> str:
    if text_width(text) > width:  # Of a name, both ends are kept; of a sentence, the beginning
        text = without_middle(text, width, 0 if " " in text else width // 3)
    missing = width - text_width(text)  # also after a wide character that did not fit
    return " " * missing + text if is_number else text + " " * missing
