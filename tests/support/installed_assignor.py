"""A package that offers an assignor of the broker's side, as pip would have installed it."""

from __future__ import annotations

from pathlib import Path

MODULE = """
from assignors.assignor import Assignor, Side
from assignors.errors import AssignorFailedError
from assignors.rules import from_named


def assign(group):
    topics = group.spec.topics
    if any(topic.name == "refused" for topic in topics):
        raise AssignorFailedError("this topic cannot be assigned")
    first = min(member.id for member in group.spec.members)
    owner = "stranger" if any(topic.name == "broken" for topic in topics) else first
    twice = 2 if any(topic.name == "twice" for topic in topics) else 1
    return from_result(group, {owner: {topic.name: list(range(topic.partitions)) * twice for topic in topics}})


def from_result(group, named):
    from assignors.model import Result

    return Result(assignment=from_named("first-takes-all", group, named))


FIRST_TAKES_ALL = Assignor(
    name="first-takes-all", side=Side.BROKER, leader=None, protocols=frozenset(), assign=assign
)
"""


def install_assignor(directory: Path) -> Path:
    """Put the package into a directory, which must be on Python's path; the assignor is `first-takes-all`."""
    (directory / "installed_assignor_package.py").write_text(MODULE)
    info = directory / "installed_assignor_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: installed-assignor-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[kohort.assignors]\nfirst-takes-all = installed_assignor_package:FIRST_TAKES_ALL\n"
    )
    return directory
