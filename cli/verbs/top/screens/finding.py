"""A finding, whole."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from cli.render.cells import safe_text
from cli.render.lines import Line, Piece, Role
from cli.verbs.top.group_rows import LEVEL_ROLES
from cli.verbs.top.group_tables import findings_of
from cli.verbs.top.host import Host
from cli.verbs.top.roles import Lines
from groups.findings import Finding
from groups.times import format_moment


class FindingScreen(ModalScreen[None]):
    app: Host
    CSS = """
    FindingScreen { align: center middle; }
    #finding { width: 90%; max-width: 110; max-height: 90%; height: auto; border: round $accent;
        background: $surface; padding: 0 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter", "dismiss", "Back")]

    def __init__(self, group: str, key: str) -> None:
        super().__init__()
        self.group, self.key = group, key

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="finding"):
            yield Lines(id="text")

    def on_mount(self) -> None:
        one = findings_of(self.app.sight, self.group).get(self.key)
        self.query_one(Lines).show([] if one is None else [*finding_lines(one)])


def finding_lines(one: Finding) -> Iterator[Line]:
    """As long as it is: its widget folds it."""
    yield (Piece(f"{one.level.value}: {one.rule}", LEVEL_ROLES.get(one.level, Role.HEADING)),)
    yield from ((), (Piece(safe_text(one.message)),), ())
    yield (Piece("What to do: ", Role.HEADING), Piece(safe_text(one.remedy)))
    if one.since_ms is not None:
        yield (Piece("Known since ", Role.FAINT), Piece(format_moment(one.since_ms)))
    for member in one.members or filter(None, [one.member]):
        yield (Piece("Member ", Role.FAINT), Piece(safe_text(member)))
    for name, figure in one.evidence.items():
        value = ", ".join(map(str, figure)) if isinstance(figure, tuple) else str(figure)
        yield (Piece(f"{safe_text(name)} ", Role.FAINT), Piece(safe_text(value)))
    if one.source:
        yield (Piece("Source ", Role.FAINT), Piece(safe_text(one.source), Role.FAINT))
