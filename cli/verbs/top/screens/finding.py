"""A finding, whole."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from cli.render.lines import Piece, Role
from cli.verbs.top.group_rows import LEVEL_ROLES
from cli.verbs.top.group_tables import evidence_lines, finding_lines, findings_of
from cli.verbs.top.host import Host
from cli.verbs.top.roles import RoleLines


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
            yield RoleLines(id="text")

    def on_mount(self) -> None:
        one = findings_of(self.app.sight, self.group).get(self.key)
        if one is not None:
            heading = Piece(f"{one.level.value}: {one.rule}", LEVEL_ROLES.get(one.level, Role.HEADING))
            self.query_one(RoleLines).show([(heading,), (), *finding_lines(one), (), *evidence_lines(one)])
