"""A member of a group."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from cli.render.lines import Line
from cli.verbs.top.grid import Grid
from cli.verbs.top.member_tables import member_lines, member_on_screen, member_table
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.screens.subject import SubjectScreen, Tab
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable
from cli.verbs.top.words import change


class MemberScreen(SubjectScreen, ActingScreen):
    tabs = (Tab("", "", ""),)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("K", "remove", "Remove member", show=False)]

    def __init__(self, group: str, member: str) -> None:
        super().__init__()
        self.group, self.member = group, member

    def wanted(self) -> Focus:
        return Focus(opened=self.group)

    @property
    def title_parts(self) -> list[str]:
        one = member_on_screen(self.app.sight, self.group, self.member)
        return [f"member {self.member if one is None else one.label} of {self.group}"]

    def summary(self, sight: Sight, width: int) -> list[Line]:
        return member_lines(sight, self.group, self.member, width)

    def table(self, sight: Sight) -> GridTable:
        return member_table(sight, self.group, self.member)

    def empty_text(self, sight: Sight) -> str:
        is_member = member_on_screen(sight, self.group, self.member) is not None
        return "It owns nothing." if is_member else ""

    def action_remove(self) -> None:
        self.app.run_command(change("members remove", self.group, "--member", self.member))

    def on_grid_opened(self, event: Grid.Opened) -> None:
        topic, colon, number = event.key.rpartition(":")
        if colon and number.isdecimal():  # Not a task of Kafka Streams
            self.app.open_screen("partition", self.group, topic, number)
