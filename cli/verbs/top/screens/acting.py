"""What can be done with a group from the screens that show one: the group on screen, or under the cursor."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from cli.verbs.top.screens.base import TableScreen
from cli.verbs.top.words import change, next_record, view, why
from groups.model import TopicPartition
from groups.times import format_moment


class ActingScreen(TableScreen):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "why", "Why", tooltip="What happened, and why"),
        Binding(
            "d", "view('diagnose', '--verbose')", "Diagnose", show=False, tooltip="Diagnose it, with evidence"
        ),
        Binding("n", "next_record", "Record", tooltip="The record that it reads next"),
        Binding("c", "view('config get')", "Settings", show=False, tooltip="Its settings"),
        Binding("P", "plan", "Plan", tooltip="Plan a migration; gates"),
        Binding("R", "reset", "Reset", tooltip="Reset its offsets …"),
        Binding("E", "type('config set')", "Edit", show=False, tooltip="Edit a setting …"),
        Binding("D", "type('delete')", "Delete", show=False, tooltip="Delete the group …"),
    ]

    def partition_on_screen(self) -> TopicPartition | None:
        """The partition that it is about, or under the cursor."""
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "next_record" and self.partition_on_screen() is None:
            return False
        return super().check_action(action, parameters)

    def action_next_record(self) -> None:
        partition = self.partition_on_screen()
        if self.app.group is not None and partition is not None:
            self.app.run_command(next_record(self.app.group, partition))

    def action_why(self) -> None:
        if self.app.group is not None:
            self.app.run_command(why(self.app.group, self.app.sight.past_ms, self.app.now_ms()))

    def action_view(self, name: str, *options: str) -> None:
        if self.app.group is not None:
            self.app.run_command(view(name, self.app.group, *options))

    def action_plan(self) -> None:
        if self.app.group is not None:
            self.app.open_screen("plan", self.app.group)

    def action_reset(self) -> None:
        """To an hour ago, to be completed; in the past, to the moment shown."""
        past_ms = self.app.sight.past_ms
        moment = "-1h" if past_ms is None else format_moment(past_ms)
        self.action_type("offsets reset", "--all-topics", f"--to-datetime={moment}")

    def action_type(self, name: str, *options: str) -> None:
        """Open the line with a change, to be completed; Enter shows its preview."""
        if self.app.group is not None:
            text = change(name, self.app.group, *options).text.removeprefix("kohort ")
            self.app.type_command(text if options else f"{text} ")
