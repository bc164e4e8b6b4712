"""A partition of a group."""

from cli.render.lines import Line
from cli.verbs.top.partition_tables import commits_table, partition_lines
from cli.verbs.top.screens.acting import ActingScreen
from cli.verbs.top.screens.subject import SubjectScreen
from cli.verbs.top.sight import Focus, Sight
from cli.verbs.top.tables import GridTable


class PartitionScreen(SubjectScreen, ActingScreen):
    def __init__(self, group: str, topic: str, partition: str) -> None:
        super().__init__()
        self.group, self.place = group, (topic, int(partition) if partition.isdecimal() else -1)

    def wanted(self) -> Focus:
        return Focus(opened=self.group)

    @property
    def title_parts(self) -> list[str]:
        topic, number = self.place
        return [f"partition {topic}:{number} of {self.group}"]

    def summary(self, sight: Sight, width: int) -> list[Line]:
        return partition_lines(sight, self.group, self.place, width)

    def table(self, sight: Sight) -> GridTable:
        return commits_table(sight, self.group, self.place)

    def empty_text(self, sight: Sight) -> str:
        return "No commit is known." if self.group in sight.groups else "Reading …"
