"""Which internal topics go with a change, of groups in a snapshot."""

from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.support.golden import assert_recorded

SNAPSHOT = """
kohort: 1
topics:
  in: {partitions: 1, end_offsets: {0: 9}}
  app-a-changelog: {partitions: 1}
  app-a-repartition: {partitions: 1}
  other-a-changelog: {partitions: 1}
groups:
  app:
    type: streams
    state: Empty
    offsets: {in: {0: {offset: 3}}, app-a-repartition: {0: {offset: 1}}}
    topology:
      epoch: 0
      subtopologies:
        - {id: "0", source_topics: [in], repartition_sinks: [app-a-repartition]}
        - id: "1"
          repartition_sources: [app-a-repartition]
          changelogs: [app-a-changelog, other-a-changelog, app-gone-changelog]
  new: {type: streams, state: Empty, offsets: {in: {0: {offset: 3}}}}
  plain: {type: classic, state: Empty, offsets: {in: {0: {offset: 3}}}}
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("streams") / "snapshot.yaml"
    file.write_text(SNAPSHOT)
    return file


LINES = (
    # What an option names goes; a topic of another application, and one that does not exist, stay.
    *(
        f"{command}{option}"
        for command in ("delete app", "offsets reset app --all-topics --to-latest")
        for option in ("", " --delete-all-internal-topics", " --delete-internal-topic app-a-changelog")
    ),
    *(
        f"delete app --delete-internal-topic {topic}"
        for topic in ("in", "other-a-changelog", "app-gone-changelog")
    ),
    "delete app --delete-internal-topic app-a-changelog --delete-all-internal-topics",
    "delete plain --delete-internal-topic app-a-changelog",
    *(f"delete {group} --delete-all-internal-topics" for group in ("new", "plain")),
    # All topics of a streams group are its input topics.
    "offsets delete app --all-topics",
    "offsets reset app --topic other-a-changelog --to-offset 0",
)


def test_each_line_has_the_recorded_answer(kohort: Kohort, snapshot: Path) -> None:
    def answered(line: str) -> str:
        answer = kohort.quick(line, "--snapshot", snapshot, "--output", "json")
        return f"{answer.stdout}{answer.stderr}status {answer.status}"

    assert_recorded("offsets/internal-topics.txt", {line: answered(line) for line in LINES})
