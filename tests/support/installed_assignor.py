"""A package that offers an assignor of the broker's side, as pip would have installed it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from tests.docs.pages import DOCS, blocks

MODULE = """
from assignors.assignor import Assignor, Side
from assignors.errors import AssignorFailedError
from assignors.rules import from_named


def assign(group):
    topics = group.spec.topics
    if any(topic.name == "refused" for topic in topics):
        raise AssignorFailedError("this topic cannot be assigned")
    if any(topic.name == "raises" for topic in topics):
        raise KeyError("orders")
    while any(topic.name == "hangs" for topic in topics):
        pass
    first = min(member.id for member in group.spec.members)
    owner = "stranger" if any(topic.name == "broken" for topic in topics) else first
    twice = 2 if any(topic.name == "twice" for topic in topics) else 1
    return from_result(group, {owner: {topic.name: list(range(topic.partitions)) * twice for topic in topics}})


def from_result(group, named):
    from assignors.model import Result

    return Result(assignment=from_named("first-takes-all", group, named))


FIRST_TAKES_ALL = Assignor(
    name="first-takes-all", side=Side.BROKER, leader=None, protocols=frozenset(), assign=assign, time_limit_s=0.2
)
"""


def install_assignor(directory: Path) -> Path:
    """Put the package into a directory, which must be on Python's path; the assignor is `first-takes-all`."""
    return install(directory, {"first-takes-all": ("installed_assignor_package:FIRST_TAKES_ALL", MODULE)})


def install(directory: Path, assignors: Mapping[str, tuple[str, str]]) -> Path:
    """Put a package with these assignors into a directory: the value of each entry point, and its module's text."""
    for value, text in assignors.values():
        (directory / f"{value.partition(':')[0]}.py").write_text(text)
    info = directory / "installed_assignor_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: installed-assignor-package\nVersion: 1.0\n")
    points = "".join(f"{name} = {value}\n" for name, (value, _) in assignors.items())
    (info / "entry_points.txt").write_text(f"[kohort.assignors]\n{points}")
    return directory


def of_the_page() -> dict[str, tuple[str, str]]:
    """The assignors of docs/custom-assignors.md, by name, as `install` takes them."""
    page = DOCS / "custom-assignors.md"
    (package,) = (tomllib.loads(block.text) for block in blocks(page, "toml"))
    texts = {block.text.partition("\n")[0].removeprefix("# "): block.text for block in blocks(page, "python")}
    points: dict[str, str] = package["project"]["entry-points"]["kohort.assignors"]
    return {name: (value, texts[f"{value.partition(':')[0]}.py"]) for name, value in points.items()}
